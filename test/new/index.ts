import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../support/structure/sources.ts'
import { shownFrame, shownMeaning } from '../support/vectors/shown.ts'
import { type Vector, vectorFamilies, vectorsOf } from '../support/vectors/vectors.ts'
import { vectorFrame } from '../support/vectors/wire.ts'
import { casesTemplate, indexWith, protocolTemplate } from './templates.ts'

/**
 * `npm run new -- NAME`: begins a protocol, with what the index of the vectors says of it, and prints its frames as the decoder
 * will see them, with what they say. Of a protocol that exists it only prints the frames.
 */
async function main([name = '']: readonly string[]): Promise<number> {
  if (!/^[a-z][a-z0-9]*$/.test(name)) {
    console.error('npm run new -- NAME: lower-case letters and digits, as the file of its vectors is called')
    return 1
  }
  const vectors = vectorsOf(name)
  for (const vector of vectors) print(vector)
  if (existsSync(join(ROOT, 'protocols', name))) {
    console.log(`protocols/${name} exists already.`)
    return 0
  }
  await create(name, vectors)
  return 0
}

function print(vector: Vector): void {
  console.log(vector.session === undefined ? vector.id : `${vector.id}, session ${vector.session}`)
  for (const line of shownFrame(vectorFrame({}, vector))) console.log(`  ${line}`)
  for (const line of shownMeaning(vector)) console.log(`    ${line}`)
}

async function create(name: string, vectors: readonly Vector[]): Promise<void> {
  const family = vectorFamilies()?.get(name)
  const isText = vectors.length > 0 && vectors.every(({ input }) => input.text !== undefined)
  const sketch = { name, family, isText }
  await mkdir(join(ROOT, 'protocols', name))
  await writeFile(join(ROOT, 'protocols', name, 'index.ts'), protocolTemplate(sketch))
  await writeFile(join(ROOT, 'test/protocols', `${name}.ts`), casesTemplate(sketch), { flag: 'wx' })
  const index = join(ROOT, 'protocols/index.ts')
  await writeFile(index, indexWith(await readFile(index, 'utf8'), sketch))
  console.log(`Created protocols/${name}/index.ts, test/protocols/${name}.ts and a line in protocols/index.ts.`)
  if (family) console.log(`Port ${family.port}, ${family.transports.join(' and ')}, ${JSON.stringify(family.framing)}`)
  console.log(`Next: fill in what says FILL IN; npm run vectors -- ${name}; npm run docs`)
}

process.exitCode = await main(process.argv.slice(2))
