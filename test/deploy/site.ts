import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { podman, run, within } from './engine.ts'
import { CACHE, COPY, NAMESPACE, ROOT } from './place.mjs'

/* The namespace in which everything runs, and the working copy of the repository in which the documented commands do. */

const MONITORS = new Set(['conmon', 'aardvark-dns'])
/** The names of containers, pods, networks and volumes of these tests, those of volumes without a name too. */
const NAMES = /^(pod_)?waybridge|^[0-9a-f]{64}$/
/** The clone without what Git and Docker ignore. */
const COPIED = [
  '.dockerignore',
  'CHANGELOG.md',
  'README.md',
  'config',
  'docker',
  'package-lock.json',
  'package.json',
  'protocols',
  'src',
  'tsconfig.json',
]

/** Makes namespace and working copy anew: a run that was killed may have left them. */
export async function prepareSite(): Promise<void> {
  await endAll()
  await run('ip', 'netns', 'add', NAMESPACE)
  await run(...within('ip', ['link', 'set', 'lo', 'up']))
  mkdirSync(COPY, { recursive: true })
  const options = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, filter: isNoSecret }
  for (const path of COPIED) cpSync(join(ROOT, path), join(COPY, path), options)
}

function isNoSecret(path: string): boolean {
  return !path.endsWith('/.env')
}

/** Ends the containers of these tests by name, removes what belongs to them, the namespace and the working copy. */
export async function endAll(): Promise<void> {
  await endCommands()
  await removeNamed(
    ['ps', '--all', '--format', '{{.Names}}'],
    ['rm', '--force', '--depend', '--volumes', '--time', '1'],
  )
  await removeUnknown()
  await removeNamed(['pod', 'ps', '--format', '{{.Name}}'], ['pod', 'rm', '--force'])
  await removeNamed(['volume', 'ls', '--format', '{{.Name}}'], ['volume', 'rm', '--force'])
  await removeNamed(['network', 'ls', '--format', '{{.Name}}'], ['network', 'rm', '--force'])
  await run('ip', 'netns', 'del', NAMESPACE).catch(() => '')
  rmSync(COPY, { recursive: true, force: true })
}

/** Kills what runs in the namespace but the monitors of containers, which end with these: commands of a run that was killed. */
async function endCommands(): Promise<void> {
  const pids = (await run('ip', 'netns', 'pids', NAMESPACE).catch(() => '')).split('\n').filter(Boolean)
  for (const pid of pids) {
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
    if (name && !MONITORS.has(name.trim())) await run('kill', '-9', pid).catch(() => '')
  }
}

/** Removes containers that a podman had created when it was killed, and of which podman does not know. */
async function removeUnknown(): Promise<void> {
  const known = JSON.parse(await run('runc', 'list', '--format', 'json')) as { id: string; bundle: string }[] | null
  const own = (known ?? []).filter(({ bundle }) => bundle.startsWith(`${CACHE}/`))
  for (const { id } of own) await run('runc', 'delete', '--force', id).catch(() => '')
}

async function removeNamed(list: readonly string[], remove: readonly string[]): Promise<void> {
  const names = (await run('podman', ...list)).split('\n').filter((name) => NAMES.test(name))
  // One that went with another is no error.
  for (const name of names) await run('podman', ...remove, name).catch(() => '')
}

/** Changes a file of the working copy. @throws Error if it stays as it is. */
export function edit(path: string, change: (text: string) => string): void {
  const file = join(COPY, path)
  const before = readFileSync(file, 'utf8')
  const after = change(before)
  if (after === before) throw new Error(`${path}: nothing to change`)
  writeFileSync(file, after)
}

/** Runs the health checks of all containers, as systemd's timers would, until it is aborted. */
export async function checkHealth(end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    const names = (await podman('ps', '--format', '{{.Names}}')).split('\n').filter((name) => NAMES.test(name))
    // A container without a health check, or one that ends meanwhile, is an error.
    for (const name of names) await podman('healthcheck', 'run', name).catch(() => '')
    await pause(2000, undefined, { signal: end }).catch(() => {})
  }
}
