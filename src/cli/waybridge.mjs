#!/usr/bin/env node
// An old Node fails on a TypeScript file with a stack trace. This file is JavaScript, so that it can run the Node of the
// package `node` instead, or name the one to use. A clone runs its sources; a package made by `npm pack` has JavaScript in
// dist.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST = 24
const own = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const isClone = existsSync(new URL('index.ts', import.meta.url))

if (Number.parseInt(process.versions.node, 10) >= OLDEST) {
  // A folder of this user alone: what it holds is run. In the environment also for the processes that `start` runs.
  process.env.NODE_COMPILE_CACHE ??= join(homedir(), '.cache/waybridge')
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
  await import(isClone ? './index.ts' : '../../dist/src/cli/index.js')
} else if (isClone && existsSync(own)) runWith(own)
else {
  const advice = isClone ? 'run `npm run setup` first' : 'install a newer one'
  process.stderr.write(`waybridge needs Node ${OLDEST} or later, and this is ${process.version}: ${advice}.\n`)
  process.exit(1)
}

/**
 * Runs another Node and exits like it. Ctrl-C reaches both processes; signals to this process alone are passed on. @param
 * {string} node
 */
function runWith(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  process.on('SIGHUP', () => child.kill('SIGHUP'))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))
}
