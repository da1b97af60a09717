import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { connect as secure, type PeerCertificate, type TLSSocket } from 'node:tls'
import { failed, ok, type TestStep, warning } from './step.ts'

/** A host of the API. */
export interface TestedHost {
  readonly url: URL
  /** The settings that name it, for what to change; undefined: the embedded service. */
  readonly setting?: string
  /** For each step. */
  readonly timeoutMs: number
}

/** Tests how a host of the API is reached: DNS, connection, certificate. Ends with the first step that fails. */
export async function testConnection(host: TestedHost): Promise<TestStep[]> {
  const name = await testName(host)
  if (name.state === 'failed') return [name]
  const began = performance.now()
  const socket = connect({ host: bare(host.url), port: portOf(host.url) })
  try {
    const reason = await readiness(socket, 'connect', host.timeoutMs)
    if (reason !== undefined) return [name, unconnected(host, reason)]
    const ms = Math.round(performance.now() - began)
    const connected = ok('connection', `connected to ${socket.remoteAddress} port ${socket.remotePort} in ${ms} ms`)
    return [name, connected, await testTls(host, socket)]
  } finally {
    socket.destroy()
  }
}

async function testName({ url, setting = LISTEN, timeoutMs }: TestedHost): Promise<TestStep> {
  const host = bare(url)
  if (isIP(host) !== 0) return ok('dns', `${host} is an address and needs no DNS`)
  const late = AbortSignal.timeout(timeoutMs)
  const found = await Promise.race([lookup(host, { all: true }), rejection(late)]).catch(codeOf)
  if (Array.isArray(found))
    return ok('dns', `${host} has the address ${found.map(({ address }) => address).join(' / ')}`)
  if (found === 'ENOTFOUND')
    return failed('dns', `the host name ${host} does not exist`, `correct ${setting}, or the DNS of this machine`)
  return failed('dns', `the DNS of this machine does not answer for ${host} (${found})`, CHECK_DNS)
}

function unconnected({ url, setting, timeoutMs }: TestedHost, reason: string): TestStep {
  const place = `${url.hostname} port ${portOf(url)}`
  if (reason !== 'ECONNREFUSED') {
    const why = reason === LATE ? `no answer within ${timeoutMs / 1000} s` : reason
    return failed('connection', `${place} cannot be reached (${why})`, CHECK_NETWORK)
  }
  const action = setting === undefined ? START : `start the API, or correct the port in ${setting}`
  return failed('connection', `${place} refuses connections`, action)
}

async function testTls({ url, setting = LISTEN, timeoutMs }: TestedHost, connected: Socket): Promise<TestStep> {
  const host = bare(url)
  if (url.protocol === 'http:') {
    if (/^(?:::ffff:)?127\.|^::1$/.test(connected.remoteAddress ?? '')) return ok('tls', 'no TLS, on this machine')
    return warning('tls', 'no TLS: keys and positions can be read on the way', `use https:// in ${setting}`)
  }
  const servername = isIP(host) === 0 ? host : ''
  // Not accepted at once: then the certificate could not be shown.
  const socket = secure({ socket: connected, host, servername, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  const reason = await readiness(socket, 'secureConnect', timeoutMs)
  if (reason === undefined) return certificateStep(socket, { host, setting })
  const why = reason === LATE ? `no answer within ${timeoutMs / 1000} s` : reason
  return failed(
    'tls',
    `${host} does not complete a TLS handshake (${why})`,
    `correct ${setting}: http:// or another port`,
  )
}

/** What is said of the certificate of a connection. */
function certificateStep(socket: TLSSocket, { host, setting }: { host: string; setting: string }): TestStep {
  const certificate = socket.getPeerCertificate()
  const until = dayOf(certificate.valid_to)
  const issuer = nameIn(certificate.issuer)
  // The types have an Error; it is the code of one.
  const problem = socket.authorized ? undefined : String(socket.authorizationError)
  if (problem === undefined) {
    const seen = `the certificate of ${host} by ${issuer} is trusted and ends on ${until}`
    const isSoon = Date.parse(certificate.valid_to) - Date.now() < SOON_MS
    return isSoon ? warning('tls', seen, RENEW) : ok('tls', seen)
  }
  return failedCertificate(problem, { certificate, host, setting })
}

interface RefusedCertificate {
  readonly certificate: PeerCertificate
  readonly host: string
  readonly setting: string
}

/** `problem`: the code of Node for why a certificate is not accepted. */
function failedCertificate(problem: string, { certificate, host, setting }: RefusedCertificate): TestStep {
  const issuer = nameIn(certificate.issuer)
  if (problem === 'CERT_HAS_EXPIRED')
    return failed('tls', `the certificate of ${host} ended on ${dayOf(certificate.valid_to)}`, RENEW)
  if (problem === 'CERT_NOT_YET_VALID') {
    const seen = `the certificate of ${host} is valid only from ${dayOf(certificate.valid_from)} on`
    return failed('tls', seen, 'set the clock of this machine, or renew the certificate of the API')
  }
  if (problem === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const seen = `the certificate is for ${namesIn(certificate)}, not for ${host}`
    return failed('tls', seen, `correct ${setting}, or the certificate of the API; so answers a login page, too`)
  }
  if (/SELF_SIGNED/.test(problem))
    return failed('tls', `the certificate of ${host} is signed by nobody but ${issuer} itself`, TRUST)
  if (problem.startsWith('UNABLE_TO_'))
    return failed('tls', `the certificate of ${host} is signed by ${issuer}, whom this machine does not trust`, TRUST)
  return failed('tls', `the certificate of ${host} is not accepted (${problem})`, RENEW)
}

/** Waits for an event of a socket. Returns why it does not come: the code of an error, or `LATE`. */
async function readiness(socket: Socket, event: string, timeoutMs: number): Promise<string | undefined> {
  const signal = AbortSignal.timeout(timeoutMs)
  const closed = once(socket, 'close', { signal }).then(() => 'ECONNRESET')
  const ready = once(socket, event, { signal }).then(() => undefined)
  const reason = await Promise.race([ready, closed]).catch((error: Error) => (signal.aborted ? LATE : codeOf(error)))
  socket.on('error', () => {})
  return reason
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error(LATE))))
}

function codeOf({ code, message }: NodeJS.ErrnoException): string {
  return code ?? message
}

/** The host as `connect` takes it: IPv6 without brackets. */
function bare({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80)
}

function nameIn({ CN, O }: PeerCertificate['issuer']): string {
  return [CN ?? O ?? 'an authority without a name'].flat().join(' ')
}

function namesIn({ subject, subjectaltname }: PeerCertificate): string {
  const names = subjectaltname?.replaceAll(/(?:DNS|IP Address):/g, '') ?? nameIn(subject)
  return names.length > MOST_NAMES ? `${names.slice(0, MOST_NAMES)}…` : names
}

/** `2026-12-01` */
function dayOf(text: string): string {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? text : new Date(ms).toISOString().slice(0, 10)
}

const LATE = 'late'
const LISTEN = 'tracking.listen'
const START = 'start waybridge: its embedded tracking service listens there'
const CHECK_DNS = 'check the DNS of this machine'
const CHECK_NETWORK = 'check the network and the firewall between this machine and the API'
const RENEW = 'renew the certificate of the API'
const TRUST =
  'have the API use a certificate of an authority that this machine trusts, or add its authority: NODE_EXTRA_CA_CERTS=FILE'
const SOON_MS = 14 * 86_400_000
const MOST_NAMES = 200
