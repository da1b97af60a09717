import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { problemText } from '../../src/config/problem.ts'
import { check } from '../../src/roster/check.ts'

/** Two protocols, as much as the configuration must know of them. */
export const PROTOCOLS = [
  { name: 'teltonika', tcp: { port: 5027 }, udp: { port: 5027 } },
  { name: 'osmand', http: { port: 5055 } },
]

/** A company 7, for devices to belong to. */
export const COMPANY = 'companies: [{ company_id: 7, apikey: k }]\n'

/** A configuration folder with these files, removed after the test. */
export async function folder(files: Record<string, string>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-config-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true })
    await writeFile(join(dir, name), text)
  }
  return dir
}

/** What `check` says of these files at noon of 2026-11-20, a line each, without the folder's name. */
export async function checked(files: Record<string, string>): Promise<{ mistakes: string[]; warnings: string[] }> {
  const dir = await folder(files)
  const { mistakes, warnings } = await check(dir, PROTOCOLS, Date.UTC(2026, 10, 20, 12))
  const lines = (problems: typeof mistakes) => problems.map((problem) => problemText(problem).replace(`${dir}/`, ''))
  return { mistakes: lines(mistakes), warnings: lines(warnings) }
}
