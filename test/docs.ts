import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { documents } from './support/docs.ts'
import { ROOT } from './support/structure/sources.ts'

/** Writes the generated parts of all documents anew. */
for (const { path, now, wanted } of await documents()) {
  if (now === wanted) continue
  await writeFile(join(ROOT, path), wanted)
  console.log(`${path} is up to date again`)
}
