import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * runc, called by podman, on machines whose root may not raise limits (a container or virtual machine without CAP_SYS_RESOURCE): each
 * limit of a new process is lowered to what this process has, and its OOM score stays as it is.
 */
const args = process.argv.slice(2)
const bundle = valueOf('--bundle', '-b')
const processFile = valueOf('--process', '-p')
if (args.includes('create') && bundle) edit(join(bundle, 'config.json'), (config) => clamp(config.process))
if (args.includes('exec') && processFile) edit(processFile, clamp)
const { status } = spawnSync('/usr/sbin/runc', args, { stdio: 'inherit' })
process.exitCode = status ?? 1

/** @param {string[]} names */
function valueOf(...names) {
  const at = args.findIndex((argument) => names.includes(argument))
  return at < 0 ? undefined : args[at + 1]
}

/** @param {string} file @param {(content: any) => void} change */
function edit(file, change) {
  const content = JSON.parse(readFileSync(file, 'utf8'))
  change(content)
  writeFileSync(file, JSON.stringify(content))
}

/** @param {{ oomScoreAdj?: number, rlimits?: { type: string, soft: number, hard: number }[] }} started */
function clamp(started) {
  delete started.oomScoreAdj
  const limits = readFileSync('/proc/self/limits', 'utf8')
  for (const limit of started.rlimits ?? []) {
    limit.hard = Math.min(limit.hard, hardLimit(limits, limit.type))
    limit.soft = Math.min(limit.soft, limit.hard)
  }
}

/** @param {string} limits @param {string} type */
function hardLimit(limits, type) {
  const title = { RLIMIT_NOFILE: 'Max open files', RLIMIT_NPROC: 'Max processes' }[type]
  const [, hard] = new RegExp(`^${title} +\\S+ +(\\d+)`, 'm').exec(limits) ?? []
  return hard === undefined ? Infinity : Number(hard)
}
