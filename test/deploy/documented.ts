import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './place.mjs'

const README = readFileSync(join(ROOT, 'docker/README.md'), 'utf8')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }

/**
 * Returns the commands of the first block of shell lines below a heading of docker/README.md, a line that ends in \ with the next one,
 * and VERSION replaced by this one.
 * @throws Error if there is no such heading or block.
 */
export function documentedCommands(heading: string): string[] {
  const from = README.indexOf(`\n${heading}\n`)
  const block = from < 0 ? undefined : /```sh\n([\s\S]*?)```/.exec(README.slice(from))?.[1]
  if (block === undefined) throw new Error(`docker/README.md has no commands below "${heading}"`)
  return block
    .replaceAll(/\\\n\s*/g, '')
    .replaceAll('VERSION', version)
    .trim()
    .split('\n')
}
