import path from 'node:path';
import * as vscode from 'vscode';
import type { ChatMessage, ContentPart } from '../../core/completions/request.ts';

/** An image that was attached to a question; one that cannot be read has no bytes. */
export interface AttachedImage {
  readonly name: string;
  readonly part?: ContentPart;
}

/** The largest image that is sent: services refuse larger bodies, and it would be in memory several times. */
const MAX_BYTES = 10 * 1024 * 1024;

const TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

/**
 * What VS Code attaches for a pasted image or a screenshot, and for image files in some versions: its class
 * `ChatReferenceBinaryData` is not declared in the stable API, and arrives all the same.
 */
interface BinaryData {
  readonly mimeType: string;
  data(): Thenable<Uint8Array>;
  readonly reference?: vscode.Uri;
}

/** The bytes as part of a message. Specification, "image_url": a data URL. */
export function toImagePart(mimeType: string, data: Uint8Array): ContentPart {
  const base64 = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
  return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${base64}` } };
}

/** The name of an attached image for users; `undefined` for other attachments. */
export function imageName({ id, value }: vscode.ChatPromptReference): string | undefined {
  if (isBinaryImage(value)) return value.reference ? vscode.workspace.asRelativePath(value.reference) : id;
  return value instanceof vscode.Uri && typeOf(value) ? vscode.workspace.asRelativePath(value) : undefined;
}

/** The attached images, in their order. Never rejects. */
export async function attachedImages(references: readonly vscode.ChatPromptReference[]): Promise<AttachedImage[]> {
  const read = references.map(async (reference): Promise<AttachedImage[]> => {
    const name = imageName(reference);
    if (name === undefined) return [];
    try {
      const part = await imageOf(reference.value);
      return [{ name, ...(part && { part }) }];
    } catch {
      return [{ name }];
    }
  });
  return (await Promise.all(read)).flat();
}

/** The content of a user's message: text, followed by the images that can be sent. */
export function userMessage(text: string, images: readonly AttachedImage[]): ChatMessage {
  const parts = images.flatMap(({ part }) => (part ? [part] : []));
  return { role: 'user', content: parts.length === 0 ? text : [{ type: 'text', text }, ...parts] };
}

async function imageOf(value: unknown): Promise<ContentPart | undefined> {
  if (isBinaryImage(value)) return withinLimit(value.mimeType, await value.data());
  const uri = value as vscode.Uri;
  const { size } = await vscode.workspace.fs.stat(uri);
  if (size > MAX_BYTES) return undefined;
  return withinLimit(typeOf(uri) ?? '', await vscode.workspace.fs.readFile(uri));
}

function withinLimit(mimeType: string, data: Uint8Array): ContentPart | undefined {
  return data.byteLength > 0 && data.byteLength <= MAX_BYTES ? toImagePart(mimeType, data) : undefined;
}

function typeOf({ path: name }: vscode.Uri): string | undefined {
  return TYPES[path.posix.extname(name).toLowerCase()];
}

function isBinaryImage(value: unknown): value is BinaryData {
  const { mimeType, data } = Object(value) as Partial<BinaryData>;
  return typeof mimeType === 'string' && mimeType.startsWith('image/') && typeof data === 'function';
}
