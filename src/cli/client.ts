import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import type { ConnectionOptions as TlsOptions } from 'node:tls'
import type * as z from 'zod'
import type { ChainJson } from '../admin/schemas/chain.ts'
import type { DeviceJson, DeviceRowJson } from '../admin/schemas/devices.ts'
import { StatusJson } from '../admin/schemas/status.ts'
import { nearest } from '../config/problem.ts'
import { sameId } from '../domain/ids.ts'
import { UserError } from '../errors.ts'
import { printableUrl } from '../masking.ts'
import type { ErrorBody } from '../tracking/schemas.ts'
import type { AdminPort } from './admin-port.ts'
import { printable } from './output.ts'

interface AdminRequest {
  readonly method?: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** From the port's root. It is sent unchanged; `new URL` would resolve a `..` in it. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** CSV. */
  readonly body?: Buffer
  /** A JSON body, in place of CSV. */
  readonly json?: unknown
  /** The media type that is asked for; default: any. */
  readonly accept?: string
  /** Time limit of the whole answer. */
  readonly timeoutMs?: number
}

export interface AdminAnswer {
  readonly status: number
  readonly text: string
}

/** Sends a request. @throws UserError if nothing answers, or if the token is unknown (401) or may only read (403) */
export async function ask(admin: AdminPort, request: AdminRequest): Promise<AdminAnswer> {
  const { path, timeoutMs = TIMEOUT_MS } = request
  const signal = AbortSignal.timeout(timeoutMs)
  const { status, text, challenge } = await send(admin, request, signal).catch((error: Error) =>
    throwNoAnswer(admin, signal.aborted ? signal.reason : error, timeoutMs),
  )
  // A 401 without this challenge comes from the tracking API through the relay.
  if (status === 401 ? challenge === 'Bearer' : status === 403 && path.startsWith('/admin/'))
    throw new UserError(`${errorText({ status, text })} (the token came from ${admin.tokenPlace})`)
  return { status, text }
}

/** Sends a request with Node's own client: loading undici takes longer than a command. */
async function send(
  admin: AdminPort,
  { method = 'GET', path, query, accept, ...content }: AdminRequest,
  signal: AbortSignal,
) {
  const url = new URL(admin.url)
  const { request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
  const { json, body = json === undefined ? undefined : JSON.stringify(json) } = content
  const type = json === undefined ? 'text/csv' : 'application/json'
  const search = query ? `?${new URLSearchParams(query).toString()}` : ''
  const asking = request(url, {
    method,
    path: url.pathname.replace(/\/$/, '') + path + search,
    headers: {
      authorization: `Bearer ${admin.token}`,
      ...(accept !== undefined && { accept }),
      ...(body && { 'content-type': type }),
    },
    signal,
    ...trustIn(admin),
  })
  // An error after the answer has begun makes reading it fail.
  asking.on('error', () => {}).end(body)
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  const { statusCode = 0, headers } = response
  return { status: statusCode, text: await textOf(response), challenge: headers['www-authenticate'] }
}

/** Accepts the known certificate of a port, else those that the system trusts. */
function trustIn({ certificate: ca }: AdminPort): TlsOptions {
  return ca === undefined ? {} : { ca, allowPartialTrustChain: true, checkServerIdentity: () => undefined }
}

function throwNoAnswer({ certificate, url }: AdminPort, error: Error & { code?: string }, timeoutMs: number): never {
  const place = printableUrl(url)
  // The other side ended the handshake: it may ask for a client certificate, or speak no TLS.
  if (error.code?.startsWith('ERR_SSL_'))
    throw new UserError(
      `${place} does not complete a TLS handshake (${error.code}): give the address of the admin port with --url.`,
    )
  if (/CERT|LEAF/.test(error.code ?? '')) {
    const untrusted =
      certificate === undefined ? 'name its authority in NODE_EXTRA_CA_CERTS' : 'it is not that of admin.tls'
    const advice = CERTIFICATE_FAULTS.get(error.code ?? '') ?? untrusted
    throw new UserError(`The certificate of ${place} is not accepted (${error.code}): ${advice}.`)
  }
  if (error.name === 'TimeoutError') throw new UserError(`No answer from ${place} within ${timeoutMs / 1000} s.`)
  const why = error.code === 'ECONNREFUSED' ? '' : ` (${error.code ?? error.name})`
  throw new UserError(`Nothing answers at ${place}${why}: start waybridge, or give the address with --url.`)
}

/** The JSON of an answer; undefined if it is not JSON. The caller knows by the status that the admin port answered. */
export function jsonOf({ text }: AdminAnswer): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The admin port cannot answer now (503). */
export class UnavailableError extends UserError {}

/** The error of an answer that is not the expected one, with the message of the admin port. */
export function refusalOf(answer: AdminAnswer): UserError {
  return new (answer.status === 503 ? UnavailableError : UserError)(errorText(answer))
}

/** The JSON of an answer. @throws UserError for any status but 200 */
export async function read<Body>(admin: AdminPort, request: AdminRequest): Promise<Body> {
  const answer = await ask(admin, request)
  if (answer.status !== 200) throw refusalOf(answer)
  return jsonOf(answer)
}

/** The JSON body of an error answer; `{}` if the text is not JSON. */
export function errorOf(answer: AdminAnswer): Partial<z.infer<typeof ErrorBody>> {
  return jsonOf(answer) ?? {}
}

/** The message of an error answer, in one line. */
export function errorText(answer: AdminAnswer): string {
  const { status, text } = answer
  const message = errorOf(answer).message ?? (text.trim() || 'no message')
  return printable(`The admin port answers ${status}: ${message}`).replace(/\s+/g, ' ').slice(0, MAX_TEXT)
}

/**
 * Resolves to the gateway's status, and the text of the answer. Commands take the time zone from it: a local time is always
 * the gateway's, wherever the command runs, because the gateway reads its files that way. @throws UserError
 */
export async function readStatus(admin: AdminPort): Promise<{ readonly status: StatusJson; readonly text: string }> {
  const answer = await ask(admin, { path: '/admin/status' })
  const url = printableUrl(admin.url)
  if (answer.status === 404) throw new UserError(`${url} has no /admin/status (404): ${NOT_THE_PORT}.`)
  if (answer.status !== 200) throw refusalOf(answer)
  const { data: status } = StatusJson.safeParse(jsonOf(answer))
  if (status) return { status, text: answer.text }
  throw notTheAdminPort(admin)
}

/** What a query asks for, by name. */
type ListQuery = Readonly<Record<string, string | undefined>>

/** All devices of `GET /admin/devices` that a query asks for, in its order. @throws UserError */
export function listDevices(admin: AdminPort, asked?: ListQuery): Promise<DeviceRowJson[]> {
  return listAll(admin, '/admin/devices', asked)
}

/** All results of an operation that answers in pages, in their order. @throws UserError */
export async function listAll<Item>(admin: AdminPort, path: string, asked?: ListQuery): Promise<Item[]> {
  return (await readPages<AnswerPage<Item>>(admin, path, asked)).results
}

/** All pages of an answer as one: the last page, with the results of all. @throws UserError */
export async function readPages<Page extends AnswerPage<unknown>>(
  admin: AdminPort,
  path: string,
  asked: ListQuery = {},
): Promise<Omit<Page, 'next_page_token'>> {
  const all: Page['results'] = []
  let token: string | undefined
  for (;;) {
    const query = { max_results: '1000', ...asked, ...(token && { page_token: token }) } as Record<string, string>
    const { next_page_token, ...page } = await read<Page>(admin, { path, query })
    if (!page.results) throw notTheAdminPort(admin)
    all.push(...page.results)
    if (next_page_token === undefined) return { ...page, results: all }
    token = next_page_token
  }
}

interface AnswerPage<Item> {
  readonly results: Item[]
  readonly next_page_token?: string
}

function notTheAdminPort({ url }: AdminPort): UserError {
  return new UserError(`${printableUrl(url)} does not answer like the admin port of waybridge.`)
}

/**
 * Resolves to the device with this id, or to all devices with this name in upper or lower case: one van may have two
 * trackers. Includes a device that was deleted while a file still has its entry, so that the user learns of the deletion.
 * @throws UserError if there is none
 */
export async function namedDevices(
  admin: AdminPort,
  idOrName: string,
): Promise<{ readonly id: string; readonly name?: string }[]> {
  const like = await listDevices(admin, { q: sameId(idOrName) })
  const withId = like.filter(({ id }) => sameId(id) === sameId(idOrName))
  if (withId.length > 0) return withId
  const exact = like.filter(({ name }) => name === idOrName)
  const named = exact.length > 0 ? exact : like.filter(({ name }) => name?.toLowerCase() === idOrName.toLowerCase())
  if (named.length > 0) return named
  const answer = await ask(admin, { path: `/admin/devices/${encodeURIComponent(idOrName)}` })
  if (answer.status !== 404) throw refusalOf(answer)
  if ((jsonOf(answer) as Partial<DeviceJson> | undefined)?.file_entry !== undefined) return [{ id: idOrName }]
  // A token for some companies may not read the arrivals.
  const arrivals = await listAll<{ readonly device?: string }>(admin, '/admin/arrivals').catch(() => [])
  if (arrivals.some(({ device = '' }) => sameId(device) === sameId(idOrName)))
    throw new UserError(
      `${printable(idOrName)} is not configured, and nothing of it is held: see \`waybridge arrivals\``,
    )
  const worded = wordIn(like, idOrName)
  const names = (await listDevices(admin)).flatMap(({ id, name = id }) => [name, id])
  const likely = worded.length > 0 ? worded : [nearest(idOrName, names) ?? []].flat()
  const hint = likely.length === 0 ? '`waybridge devices` lists all devices' : `did you mean ${likely.join(' or ')}?`
  throw new UserError(printable(`No device has the id or name "${idOrName}": ${hint}`))
}

/** The first names that have this text as one or some of their words: `12` in Van 12. */
function wordIn(devices: readonly DeviceRowJson[], text: string): string[] {
  const names = devices.flatMap(({ name }) =>
    name !== undefined && ` ${name} `.toLowerCase().includes(` ${text.toLowerCase()} `) ? name : [],
  )
  return [...new Set(names)].slice(0, 3)
}

interface ChainRead {
  /** As the admin port answered it. */
  readonly text: string
  readonly chain?: ChainJson
  /** Why a device is missing that was deleted while a file still has its entry. */
  readonly missing: string
}

/** `GET /admin/devices/{id}/chain`. @throws UserError */
export async function readChain(admin: AdminPort, id: string): Promise<ChainRead> {
  const answer = await ask(admin, { path: `/admin/devices/${encodeURIComponent(id)}/chain` })
  const body = jsonOf(answer) as (ChainJson & { readonly message?: string }) | undefined
  if (answer.status === 200 && body) return { text: answer.text, chain: body, missing: '' }
  if (answer.status === 404 && body?.message) return { text: answer.text, missing: body.message }
  throw refusalOf(answer)
}

/** Whether a device is silent, and was not heard for 15 minutes. `now`: ms UTC. */
export function isSilent({ condition, last_heard }: DeviceRowJson, now: number): boolean {
  return condition === 'silent' && last_heard !== undefined && now - Date.parse(last_heard.at) > SILENT_MS
}

const SILENT_MS = 15 * 60_000
/** Faults of a certificate whatever is trusted. */
const CERTIFICATE_FAULTS = new Map([
  ['CERT_HAS_EXPIRED', 'renew it'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'it has another name'],
])
const NOT_THE_PORT = 'it is not the admin port (admin.port in gateway.yaml, 8080 by default)'
const TIMEOUT_MS = 30_000
const MAX_TEXT = 500
