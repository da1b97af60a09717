import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { type PeerCertificate, connect as secure, type SecureContextOptions, type TLSSocket } from 'node:tls'
import { say, type Text } from '../../texts/text.ts'
import { openTunnel } from '../proxy.ts'
import { failed, ok, type TestStep, warning } from './step.ts'

export interface TestedHost {
  readonly url: URL
  /** The setting to change, for messages; undefined: the embedded service. */
  readonly setting?: string
  /** Time limit of each step. */
  readonly timeoutMs: number
  /** TLS settings beyond the system's trusted authorities. */
  readonly tls?: SecureContextOptions
  /** The URL of a proxy that connects to the host. */
  readonly proxy?: string | null
}

/** Tests how a host of the API is reached: DNS, connection, certificate. Ends with the first step that fails. */
export async function testConnection(host: TestedHost): Promise<TestStep[]> {
  if (host.proxy) return testTunnel(host, host.proxy)
  const name = await testName(host)
  if (name.state === 'failed') return [name]
  const began = performance.now()
  const socket = connect({ host: bare(host.url), port: portOf(host.url) })
  try {
    const reason = await readiness(socket, 'connect', host.timeoutMs)
    if (reason !== undefined) return [name, unconnected(host, reason)]
    const ms = Math.round(performance.now() - began)
    const connected = ok(
      'connection',
      say('connected to {} port {} in {} ms', String(socket.remoteAddress), String(socket.remotePort), ms),
    )
    return [name, connected, await testTls(host, socket)]
  } finally {
    socket.destroy()
  }
}

/** The proxy looks the host up. */
async function testTunnel(host: TestedHost, proxy: string): Promise<TestStep[]> {
  const { timeoutMs, url } = host
  const target = { host: bare(url), port: portOf(url) }
  const place = say('{} port {}', url.hostname, portOf(url))
  const began = performance.now()
  try {
    const socket = await openTunnel(target, { proxy, timeoutMs })
    try {
      const ms = Math.round(performance.now() - began)
      return [
        ok('connection', say('connected to {} through the proxy in {} ms', place, ms)),
        await testTls(host, socket),
      ]
    } finally {
      socket.destroy()
    }
  } catch (error) {
    const seen = say('{} cannot be reached through the proxy: {}', place, (error as Error).message)
    return [failed('connection', seen, CORRECT_PROXY)]
  }
}

async function testName({ url, setting = LISTEN, timeoutMs }: TestedHost): Promise<TestStep> {
  const host = bare(url)
  if (isIP(host) !== 0) return ok('dns', say('{} is an address and needs no DNS', host))
  const late = AbortSignal.timeout(timeoutMs)
  const found = await Promise.race([lookup(host, { all: true }), rejection(late)]).catch(codeOf)
  if (Array.isArray(found))
    return ok('dns', say('{} has the address {}', host, found.map(({ address }) => address).join(' / ')))
  if (found === 'ENOTFOUND')
    return failed(
      'dns',
      say('the host name {} does not exist', host),
      say('correct {}, or the DNS of this machine', setting),
    )
  return failed('dns', say('the DNS of this machine does not answer for {} ({})', host, found), CHECK_DNS)
}

function unconnected({ url, setting, timeoutMs }: TestedHost, reason: string): TestStep {
  const place = say('{} port {}', url.hostname, portOf(url))
  if (reason !== 'ECONNREFUSED') {
    const why = reason === LATE ? say('no answer within {} s', timeoutMs / 1000) : reason
    return failed('connection', say('{} cannot be reached ({})', place, why), CHECK_NETWORK)
  }
  const action = setting === undefined ? START : say('start the API, or correct the port in {}', setting)
  return failed('connection', say('{} refuses connections', place), action)
}

async function testTls(
  { url, setting = LISTEN, timeoutMs, tls, proxy }: TestedHost,
  connected: Socket,
): Promise<TestStep> {
  const host = bare(url)
  if (url.protocol === 'http:') {
    if (!proxy && /^(?:::ffff:)?127\.|^::1$/.test(connected.remoteAddress ?? ''))
      return ok('tls', say('no TLS, on this machine'))
    return warning('tls', say('no TLS: keys and positions can be read on the way'), say('use https:// in {}', setting))
  }
  const servername = isIP(host) === 0 ? host : ''
  // Not accepted at once: then the certificate could not be shown.
  const socket = secure({
    ...tls,
    socket: connected,
    host,
    servername,
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  })
  const reason = await readiness(socket, 'secureConnect', timeoutMs)
  if (reason === undefined) return certificateStep(socket, { host, setting })
  const why = reason === LATE ? say('no answer within {} s', timeoutMs / 1000) : reason
  return failed(
    'tls',
    say('{} does not complete a TLS handshake ({})', host, why),
    say('correct {}: http:// or another port', setting),
  )
}

/** Returns the step about a connection's certificate. */
function certificateStep(socket: TLSSocket, { host, setting }: { host: string; setting: string }): TestStep {
  const certificate = socket.getPeerCertificate()
  const until = dayOf(certificate.valid_to)
  const issuer = nameIn(certificate.issuer)
  // The type is Error, but the value is an error code.
  const problem = socket.authorized ? undefined : String(socket.authorizationError)
  if (problem === undefined) {
    const seen = say('the certificate of {} by {} is trusted and ends on {}', host, issuer, until)
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
    return failed('tls', say('the certificate of {} ended on {}', host, dayOf(certificate.valid_to)), RENEW)
  if (problem === 'CERT_NOT_YET_VALID') {
    const seen = say('the certificate of {} is valid only from {} on', host, dayOf(certificate.valid_from))
    return failed('tls', seen, say('set the clock of this machine, or renew the certificate of the API'))
  }
  if (problem === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const seen = say('the certificate is for {}, not for {}', namesIn(certificate), host)
    return failed('tls', seen, say('correct {}, or the certificate of the API; so answers a login page, too', setting))
  }
  if (problem === 'DEPTH_ZERO_SELF_SIGNED_CERT')
    return failed('tls', say('the certificate of {} is signed by nobody but {} itself', host, issuer), TRUST)
  if (problem.startsWith('UNABLE_TO_') || problem === 'SELF_SIGNED_CERT_IN_CHAIN')
    return failed(
      'tls',
      say('the certificate of {} is signed by {}, whom this machine does not trust', host, issuer),
      TRUST,
    )
  return failed('tls', say('the certificate of {} is not accepted ({})', host, problem), RENEW)
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

function nameIn({ CN, O }: PeerCertificate['issuer']): Text {
  const names = [CN ?? O ?? []].flat()
  return names.length > 0 ? names.join(' ') : say('an authority without a name')
}

function namesIn({ subject, subjectaltname }: PeerCertificate): Text {
  const names = subjectaltname?.replaceAll(/(?:DNS|IP Address):/g, '')
  if (names === undefined) return nameIn(subject)
  return names.length > MOST_NAMES ? `${names.slice(0, MOST_NAMES)}…` : names
}

/** `2026-12-01` */
function dayOf(text: string): string {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? text : new Date(ms).toISOString().slice(0, 10)
}

const LATE = 'late'
const LISTEN = 'tracking.listen'
const START = say('start waybridge: its embedded tracking service listens there')
const CHECK_DNS = say('check the DNS of this machine')
const CHECK_NETWORK = say('check the network and the firewall between this machine and the API')
const CORRECT_PROXY = say('correct the proxy of the API in gateway.yaml (tracking.proxy), or ask who runs it')
const RENEW = say('renew the certificate of the API')
const TRUST = say(
  'if the authority is your own, name its certificate in tracking.tls.ca (gateway.yaml); otherwise have the API use a certificate of one that this machine trusts',
)
const SOON_MS = 14 * 86_400_000
const MOST_NAMES = 200
