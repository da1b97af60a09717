import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRedis } from '../../../src/store/index.ts'
import type { CalledFunction, Coverage } from './coverage.ts'
import { filesBelow, ROOT } from './sources.ts'

/** Each Lua file, in parts: without the lines that include others. */
const PARTS = filesBelow('src', /\.lua$/).map((file) => {
  const text = readFileSync(join(ROOT, file), 'latin1')
  return { file, parts: text.split(/^-- include \w+$/m) }
})

/** Counts the calls of scripts that a Redis gets from now on: each Lua file of a script counts as called. */
export async function startScriptCoverage(url: string): Promise<Coverage> {
  const redis = openRedis(url, {})
  const monitor = await redis.monitor()
  // Redis may end first.
  for (const each of [redis, monitor]) each.on('error', () => {})
  const filesOf = new Map<string, string[]>()
  let called = new Map<string, CalledFunction>()
  monitor.on('monitor', (_: string, [command, script]: string[]) => {
    // A script comes with its text once; by its hash each time, that time too.
    if (command === 'eval') filesOf.set(...filesOfScript(unescaped(script)))
    for (const file of (command === 'evalsha' && filesOf.get(script)) || []) {
      const key = `${script}:${file}`
      called.set(key, { file, name: '', calls: (called.get(key)?.calls ?? 0) + 1 })
    }
  })
  await redis.script('FLUSH')
  return {
    async take() {
      const taken = called
      called = new Map()
      return taken
    },
    close() {
      monitor.disconnect()
      redis.disconnect()
    },
  }
}

function filesOfScript(text: string): [sha: string, files: string[]] {
  const sha = createHash('sha1').update(text, 'latin1').digest('hex')
  return [sha, PARTS.filter(({ parts }) => parts.every((part) => text.includes(part))).map(({ file }) => file)]
}

/** A text that MONITOR shows, as its bytes. */
function unescaped(shown: string): string {
  return shown.replaceAll(/\\(?:x(..)|(.))/g, (_, hex?: string, letter = '') =>
    hex === undefined ? (ESCAPES[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
