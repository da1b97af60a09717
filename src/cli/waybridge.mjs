#!/usr/bin/env node
// An old Node fails on a TypeScript file with a stack trace. This file is JavaScript, so that it can say which Node to use.
const OLDEST = 24

if (Number.parseInt(process.versions.node, 10) < OLDEST) {
  process.stderr.write(
    `waybridge needs Node ${OLDEST} or later, and this is ${process.version}: ` +
      'run `npm run setup`, then start it with node_modules/.bin/node.\n',
  )
  process.exit(1)
}
await import('./index.ts')
