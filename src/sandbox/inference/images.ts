import { plural } from './code.ts';
import type { ImagePart } from './request.ts';

/** Prompt tokens one image counts for. */
export const tokensPerImage = 85;

/** What can honestly be said of the images: their number, media types and sizes. Nothing is fetched. */
export function describeImages(images: readonly ImagePart[]): string {
  const list = images.map((image, index) => `${index + 1}. ${describeImage(image)}\n`).join('');
  return `I received ${plural(images.length, 'image')}:\n\n${list}\nThe sandbox reads the type and the size of an image, not what it shows.`;
}

function describeImage({ url, mediaType, bytes }: ImagePart): string {
  if (!bytes) return `an image at \`${new URL(url).host}\`, which the sandbox does not fetch`;
  const size = dimensions(bytes);
  return `\`${mediaType}\`, ${plural(bytes.length, 'byte')}${size ? `, ${size.width} × ${size.height} pixels` : ''}`;
}

/** Width and height as the header of a PNG or GIF states them. */
function dimensions(bytes: Uint8Array): { width: number; height: number } | undefined {
  const data = Buffer.from(bytes);
  if (data.length >= 24 && data.toString('latin1', 1, 4) === 'PNG')
    return { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
  if (data.length >= 10 && data.toString('latin1', 0, 3) === 'GIF')
    return { width: data.readUInt16LE(6), height: data.readUInt16LE(8) };
  return undefined;
}
