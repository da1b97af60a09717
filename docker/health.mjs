/*
 * The health check of a container: node docker/health.mjs DATA_DIR of one that runs `start`, PORT of one that runs a role, the port
 * of its monitor. Exit 0 if every role has started (only then is there a ports.json) and /readyz answers 200: devices get
 * acknowledgements. Otherwise exit 1 and the reason.
 */
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { join } from 'node:path'

try {
  const port = portOf(process.argv[2])
  // With admin.tls the port speaks HTTPS; its certificate names another host than 127.0.0.1.
  const { status, text } = await ask(http, port).catch(() => ask(https, port))
  process.stdout.write(text)
  process.exitCode = status === 200 ? 0 : 1
} catch (error) {
  process.stdout.write(String(error))
  process.exitCode = 1
}

/** @param {string} where @returns {number} */
function portOf(where) {
  return /^\d+$/.test(where) ? Number(where) : JSON.parse(readFileSync(join(where, 'ports.json'), 'utf8')).admin
}

/** @param {typeof http | typeof https} client @param {number} port */
function ask(client, port) {
  const { promise, resolve, reject } = Promise.withResolvers()
  const options = { host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, timeout: 2000, agent: false }
  const request = client.get(options, (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (more) => (text += more))
    response.on('end', () => resolve({ status: response.statusCode, text })).on('error', reject)
  })
  request.on('error', reject).on('timeout', () => request.destroy(new Error('no answer within 2 s')))
  return promise
}
