import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { check } from '../../src/cli/check.ts'
import { loadConfig } from '../../src/config/files.ts'
import { problemText } from '../../src/config/problem.ts'
import type { Protocols } from '../../src/config/schema.ts'
import { rosterOf } from '../../src/roster/file-version.ts'

/** Two protocols, reduced to what the configuration needs. */
export const PROTOCOLS = [
  { name: 'teltonika', tcp: 5027, udp: 5027 },
  { name: 'osmand', http: 5055 },
]

/** A gateway.yaml with company 7. */
export const COMPANY = 'companies: [{ company_id: 7, apikey: k }]\n'

/** Makes a folder with these files; it is removed after the test. */
export async function folder(files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-config-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true })
    await writeFile(join(dir, name), text)
  }
  return dir
}

/** The output lines of `check` for these files at noon UTC of 2026-11-20, without the name of the folder. */
export async function checked(files: Record<string, string>): Promise<{ mistakes: string[]; warnings: string[] }> {
  const dir = await folder(files)
  const { mistakes, warnings } = await check(dir, PROTOCOLS, Date.UTC(2026, 10, 20, 12))
  const lines = (problems: typeof mistakes) => problems.map((problem) => problemText(problem).replace(`${dir}/`, ''))
  return { mistakes: lines(mistakes), warnings: lines(warnings) }
}

/** What the files of a folder say: devices and lines as they are written, and the roster that they make. */
export async function loadedFolder(dir: string, protocols: Protocols = PROTOCOLS) {
  const { config, files } = await loadConfig(dir, protocols)
  const directory = await rosterOf(files)
  const devices = files.devices.flatMap(({ content }) => content.devices.map(({ device }) => device))
  const lines = Array.from(directory.devices()).flatMap((entry) => directory.assignmentsOf(entry))
  const routes = lines.map((line) => ({ ...line, version: undefined }))
  const { mistakes, warnings } = await check(dir, protocols, Date.now())
  return { config, devices, routes, directory, problems: [...mistakes, ...warnings] }
}
