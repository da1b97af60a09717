import { exec } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { scripts } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as { scripts: Record<string, string> }

/** Scripts of package.json that read the code without running it; each takes several seconds of CPU. `lint` checks types too. */
it.each(['lint', 'formatted', 'unused'])('npm run %s finds nothing', { timeout: 180_000 }, async (name) => {
  expect(await run(scripts[name])).toEqual({ code: 0, output: '' })
})

/** Runs a script; what it prints counts where it fails. */
function run(script: string): Promise<{ code: number | string; output: string }> {
  // With GOGC the type checker, a Go program, takes a fifth less CPU time, for more memory.
  const PATH = `${ROOT}/node_modules/.bin${delimiter}${process.env.PATH}`
  const env = { GOGC: '400', ...process.env, PATH }
  return new Promise((resolve) => {
    exec(script, { cwd: ROOT, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve(
        error ? { code: error.code ?? error.signal ?? 'no start', output: stdout + stderr } : { code: 0, output: '' },
      ),
    )
  })
}
