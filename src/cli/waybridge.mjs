#!/usr/bin/env node
// An old Node fails on a TypeScript file with a stack trace. This file is JavaScript, so that it can run the Node of the
// package instead, or say which one to use.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const OLDEST = 24
const own = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))

if (Number.parseInt(process.versions.node, 10) >= OLDEST) await import('./index.ts')
else if (existsSync(own)) runWith(own)
else {
  process.stderr.write(
    `waybridge needs Node ${OLDEST} or later, and this is ${process.version}: run \`npm run setup\` first.\n`,
  )
  process.exit(1)
}

/**
 * Ends as the other process does. Ctrl-C reaches both; what is sent to this process alone is passed on.
 * @param {string} node
 */
function runWith(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  process.on('SIGHUP', () => child.kill('SIGHUP'))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))
}
