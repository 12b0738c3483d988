/** `python3` of `/usr/bin/python3` and `C:\Python\python3.exe`. */
export function programName(word: string): string {
  return (word.split(/[\\/]/).at(-1) ?? '').replace(/\.(?:exe|cmd|bat|com)$/i, '');
}
