import { existsSync, readFileSync } from 'node:fs'
import { canFetchRedis, fetchRedis } from './setup/fetch-redis.mjs'
import { withLock } from './setup/lock.mjs'
import { hasPackages, installPackages } from './setup/packages.mjs'
import { findRedisServer, missingRedis } from './setup/redis-server.mjs'
import { needsNoPrivateRedis } from './setup/redis-url.mjs'

/*
 * Runs in front of every npm script, on any Node from 20 on and without any package: what is missing is set up, otherwise
 * nothing happens. Everything is said on stderr, since stdout belongs to the command.
 */
if (!isComplete()) await withLock(setUp)

function isComplete() {
  return hasPackages() && (!wantsRedis() || findRedisServer() !== undefined)
}

async function setUp() {
  if (!hasPackages()) {
    say('Installing npm packages …')
    if (!(await installPackages())) fail('npm could not install the packages: put right what it says above.')
  }
  if (!wantsRedis() || findRedisServer()) return
  if (await fetched()) return
  if (!isLeftToCommand()) fail(missingRedis())
}

async function fetched() {
  if (!canFetchRedis()) return false
  say('Fetching a Redis server …')
  return fetchRedis()
}

function wantsRedis() {
  return !(isLeftToCommand() && hasRedisUrl())
}

/** These may run on a Redis of the user's own, and say themselves what is missing if they need the private one after all. */
function isLeftToCommand() {
  return ['prestart', 'prewaybridge'].includes(process.env.npm_lifecycle_event ?? '')
}

function hasRedisUrl() {
  const file = new URL('../../config/gateway.yaml', import.meta.url)
  return existsSync(file) && needsNoPrivateRedis(readFileSync(file, 'utf8'))
}

/** @param {string} sentence */
function say(sentence) {
  process.stderr.write(`${sentence}\n`)
}

/**
 * @param {string} sentence
 * @returns {never}
 */
function fail(sentence) {
  say(sentence)
  process.exit(1)
}
