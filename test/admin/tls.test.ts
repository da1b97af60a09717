import { once } from 'node:events'
import { createServer } from 'node:https'
import { connect } from 'node:net'
import { connect as connectTls, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { pino } from 'pino'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Admin } from '../../src/admin/index.ts'
import type { Store } from '../../src/store/index.ts'
import { connected, OPERATE, openBare } from '../support/admin.ts'
import { CertificateMaker, type Issued } from '../support/certificates.ts'
import { waybridge } from '../support/cli.ts'
import { folder } from '../support/config-folder.ts'
import { until } from '../support/listen.ts'
import { listening } from '../support/listening.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'
import { dialTls } from '../support/tls.ts'

let redisServer: TestRedis
let redis: Store
let certificates: CertificateMaker
let server: Issued

beforeAll(async () => {
  redisServer = await startTestRedis()
  redis = await connected(redisServer.url)
  certificates = await CertificateMaker.create()
  // Nobody connects to this name; the command line recognises the certificate itself.
  server = await certificates.issue('admin', { cn: 'gateway.example.com', san: 'DNS:gateway.example.com' })
})
afterAll(async () => {
  redis.disconnect()
  await redisServer.stop()
  await certificates.remove()
})

function openSecure({ files }: Issued): Promise<Admin> {
  const logger = pino({ level: 'silent' })
  return openBare({ redis, logger, tls: { ...files, profile: 'intermediate' } })
}

describe('the admin port with a certificate', () => {
  it('the admin port with a certificate answers over HTTPS, but not without TLS or over TLS 1.1', async () => {
    const admin = await openSecure(server)
    onTestFinished(() => admin.close())
    const dispatcher = new Agent({ connect: { ca: server.cert, servername: 'gateway.example.com' } })
    onTestFinished(() => dispatcher.destroy())
    const url = `https://127.0.0.1:${admin.port}/admin/status`
    for (const [headers, status] of [
      [OPERATE, 200],
      [{}, 401],
    ] as const) {
      const { statusCode, body } = await request(url, { dispatcher, headers })
      await body.dump()
      expect(statusCode).toBe(status)
    }
    await expect(fetch(`http://127.0.0.1:${admin.port}/healthz`)).rejects.toThrow()
    const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    expect((await dialTls(admin.port, { rejectUnauthorized: false, ...old })).failure).toMatch(/^ERR_SSL_/)
  })

  it('the admin port uses renewed certificate files without a restart', async () => {
    const issued = await certificates.server('renewed')
    const admin = await openSecure(issued)
    onTestFinished(() => admin.close())
    const serial = async () => {
      const { socket } = await dialTls(admin.port, { rejectUnauthorized: false })
      return socket.getPeerCertificate().serialNumber
    }
    const first = await serial()
    await certificates.server('renewed')
    await until(async () => expect(await serial()).not.toBe(first))
  })

  it('the admin port closes despite an unfinished handshake, an idle connection and an unfinished request', async () => {
    const admin = await openSecure(server)
    const sockets = [
      connect(admin.port, '127.0.0.1'),
      connectTls({ port: admin.port, rejectUnauthorized: false }),
      connectTls({ port: admin.port, rejectUnauthorized: false }),
    ]
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    sockets[2].write('POST /admin/parked/retry?all=true HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nx')
    const ends = sockets.map(
      (socket) =>
        new Promise((resolve) =>
          socket
            .on('error', () => {})
            .resume()
            .once('close', resolve),
        ),
    )
    await admin.close()
    await Promise.all(ends)
  })
})

/** Makes a gateway.yaml with this admin port. */
function config(port: number, { files }: Issued): string {
  return `admin: { port: ${port}, tokens: [canary-operate], tls: { cert: ${files.cert}, key: ${files.key} } }\n`
}

describe('the command line', () => {
  it('the command line uses HTTPS for the port of its configuration, whatever name the certificate has', async () => {
    const admin = await openSecure(server)
    onTestFinished(() => admin.close())
    const cwd = await folder({ 'config/gateway.yaml': config(admin.port, server) })
    // `status` ends with 1 once no gateway has been seen for ten seconds.
    const { code, errors } = await waybridge(['parked', 'list', '--json'], { cwd })
    expect([code, errors]).toEqual([0, ''])
  })

  it('the command line sends its token to no port with another certificate', async () => {
    const admin = await openSecure(await certificates.server('other'))
    onTestFinished(() => admin.close())
    const cwd = await folder({ 'config/gateway.yaml': config(admin.port, server) })
    const { code, errors } = await waybridge(['status'], { cwd })
    expect(code).toBe(1)
    const refused = String.raw`^The certificate of https://127\.0\.0\.1:\d+ is not accepted \(\w+\): `
    expect(errors).toMatch(new RegExp(`${refused}it is not that of admin\\.tls\\.\n$`))
    const env = { WAYBRIDGE_ADMIN_URL: `https://127.0.0.1:${admin.port}`, WAYBRIDGE_ADMIN_TOKEN: 'canary-operate' }
    expect((await waybridge(['status'], { env })).errors).toMatch(
      new RegExp(`${refused}name its authority in NODE_EXTRA_CA_CERTS\\.\n$`),
    )
  })

  it('the command line blames no certificate of a port that asks for one of the client', async () => {
    const { cert, key } = server
    const asking = createServer({ cert, key, ca: cert, requestCert: true, rejectUnauthorized: true })
    const port = await listening(asking)
    onTestFinished(() => void asking.close())
    const cwd = await folder({ 'config/gateway.yaml': config(port, server) })
    expect((await waybridge(['status'], { cwd })).errors).toMatch(
      /^https:\/\/127\.0\.0\.1:\d+ does not complete a TLS handshake \(ERR_SSL_\w+\): give the address of the admin port with --url\.\n$/,
    )
  })

  it('the command line names no authority for a certificate that has expired, or has another name', async () => {
    const expired = await certificates.expired('expired')
    const first = await openSecure(expired)
    const cwd = await folder({ 'config/gateway.yaml': config(first.port, expired) })
    const { errors } = await waybridge(['status'], { cwd })
    await first.close()
    expect(errors).toMatch(/ is not accepted \(CERT_HAS_EXPIRED\): renew it\.\n$/)
    const admin = await openSecure(server)
    onTestFinished(() => admin.close())
    const env = { WAYBRIDGE_ADMIN_URL: `https://127.0.0.1:${admin.port}`, WAYBRIDGE_ADMIN_TOKEN: 'canary-operate' }
    const known = getCACertificates()
    onTestFinished(() => setDefaultCACertificates(known))
    setDefaultCACertificates([server.cert])
    expect((await waybridge(['status'], { env })).errors).toMatch(
      / is not accepted \(ERR_TLS_CERT_ALTNAME_INVALID\): it has another name\.\n$/,
    )
  })
})
