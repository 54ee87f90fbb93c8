import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tempDir, type TempDir } from '../../support/temp.ts'

/** A folder of one's own, with a short way to put files into it. */
export interface Folder extends TempDir {
  /** Writes a file and gives its path. */
  write(name: string, text: string): Promise<string>
}

export async function createFolder(): Promise<Folder> {
  const directory = await tempDir()
  return {
    ...directory,
    async write(name, text) {
      const file = join(directory.path, name)
      await writeFile(file, text)
      return file
    },
  }
}
