import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import * as z from 'zod'
import { MAX_ID_BYTES } from '../domain/ids.ts'
import { type DescribedOperation, openApiDocument } from '../tracking/openapi.ts'
import { routerPath } from '../tracking/operations.ts'
import type { Caller } from './access.ts'
import { Scope } from './scope.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The query parameters of the operation; others are ignored. */
    readonly asks?: readonly string[]
  }
  interface FastifyRequest {
    /** Absent if the operation needs no token. */
    caller?: Caller
    /** Resolves to whether the caller is still permitted as it was: its token may be taken out during the request. */
    isStillPermitted?: () => Promise<boolean>
    /** The path of the operation, if the request is for a change, which needs a token with the role `operate`. */
    change?: string
    /** The name of the operation, if its answer contains positions, for the log of reads. */
    reads?: string
    /** The company whose object the request changes, for the audit log. */
    company?: string
    /** What the operation changed, for the audit log, such as `{ added: 3, removed: 1 }`. */
    audit?: Readonly<Record<string, number | boolean | string>>
  }
}

export type AccessHook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** One operation of the admin port. Its errors become answers in `createHttpServer`. */
export interface Operation extends Omit<DescribedOperation, 'method' | 'credential' | 'refusals'> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The operationId. */
  readonly id: string
  /** Statuses beside 401, 403 and 503, and those that a query adds. */
  readonly refusals?: readonly number[]
  /** True: needs no token. A hook: refuses callers itself. */
  readonly open?: true | AccessHook
  /**
   * Whether a request changes nothing. Default: with `dry_run=true`, if the operation has that parameter. Any other request asks for a
   * change, unless its method is GET.
   */
  readonly isDryRun?: (request: FastifyRequest) => boolean
  /**
   * What a caller with only some companies gets. `filtered`: the operation itself limits what it shows and changes to the
   * caller's scope. `by_device`: it is about the device in its path alone, and answers 404 if that device is not in the
   * scope. Without: 403.
   */
  readonly companies?: 'filtered' | 'by_device'
  /** Reads the body itself. */
  readonly handle: (request: FastifyRequest, reply: FastifyReply, scope: Scope) => Promise<unknown>
}

interface RegisterOptions {
  /** A hook that answers a caller without the needed token. */
  readonly access: AccessHook
  readonly companyOf: (device: string) => string | undefined
}

/** Registers the operations. Another method of a known path is answered 405, an unknown path 404. */
export function register(
  app: FastifyInstance,
  operations: readonly Operation[],
  { access, companyOf }: RegisterOptions,
): void {
  app.decorateRequest('caller').decorateRequest('audit').decorateRequest('change').decorateRequest('company')
  app.decorateRequest('reads').decorateRequest('isStillPermitted')
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  for (const operation of operations) {
    const { method, path, open, query, reads, handle } = operation
    const asks = Object.keys(query?.shape ?? {})
    const { isDryRun = (request) => asks.includes('dry_run') && wantsDryRun(request) } = operation
    const mark = async (request: FastifyRequest) => {
      if (method !== 'GET' && !isDryRun(request)) request.change = path
      if (reads && request.method !== 'HEAD') request.reads = `${method} ${path}`
    }
    const own = open === true ? [] : open ? [open] : [access, withinScope(operation, companyOf)]
    const handler = (request: FastifyRequest, reply: FastifyReply) =>
      handle(request, reply, request.caller?.scope ?? NOTHING)
    app.route({ method, url: routerPath(path), config: { asks }, onRequest: [mark, ...own, refuseLongId], handler })
  }
  for (const [path, some] of Map.groupBy(operations, (operation) => operation.path)) refuseOthers(app, path, some)

  const message = `unknown path; this port has ${adminPaths(operations).join(', ')}`
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message }))
}

function wantsDryRun({ query }: FastifyRequest): boolean {
  return (query as { dry_run?: unknown }).dry_run === 'true'
}

/**
 * Returns a hook for callers with only some companies. It answers 403 if the operation is about something that belongs to no
 * company, and 404 if it is about a device that is not configured for one of theirs, whether the device exists or not.
 */
function withinScope({ companies, method, path }: Operation, companyOf: RegisterOptions['companyOf']) {
  return async ({ caller, params }: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (!caller || caller.scope.isAll || companies === 'filtered') return undefined
    if (companies === 'by_device')
      return caller.scope.sees(companyOf((params as { id: string }).id)) ? undefined : reply.code(404).send(NO_DEVICE)
    const message = `this token is for some companies: ${method} ${path} needs one for all`
    return reply.code(403).send({ message })
  }
}

/**
 * Answers 404 for a path that is longer than a device id: leading zeros would hide the id from the logs. A put refuses such
 * an id itself.
 */
const refuseLongId: AccessHook = async ({ method, params }, reply) => {
  const { id = '' } = params as { id?: string }
  return method === 'PUT' || Buffer.byteLength(id) <= MAX_ID_BYTES ? undefined : reply.code(404).send(NO_ID)
}

const NO_ID = { message: `no id of a device has more than ${MAX_ID_BYTES} bytes` }
/** The same answer as for a device that does not exist. */
const NO_DEVICE = { message: 'no device with this id is configured' }

/** The port's own paths, without those of the relay. */
function adminPaths(operations: readonly Operation[]): string[] {
  return [...Map.groupBy(operations, ({ path }) => path)]
    .filter(([path]) => path.startsWith('/admin/'))
    .map(([path, some]) => `${some.map(({ method }) => method).join('|')} ${path}`)
}

function refuseOthers(app: FastifyInstance, path: string, operations: readonly Operation[]): void {
  const allowed = operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const allow = allowed.join(', ')
  const message = `method not allowed: use ${allow}`
  app.route({
    method: METHODS.filter((method) => !allowed.includes(method)),
    url: routerPath(path),
    handler: (_request, reply) => reply.code(405).header('allow', allow).send({ message }),
  })
}

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']

/** `GET /openapi.json`: the OpenAPI document of these operations and of itself. */
export function openApiOperation(operations: readonly Operation[]): Operation {
  const own: Operation = {
    method: 'GET',
    path: '/openapi.json',
    id: 'getOpenApi',
    summary: 'Get this document',
    answer: z.record(z.string(), z.unknown()),
    companies: 'filtered',
    handle: async () => document,
  }
  const forAll = operations
    .filter(({ companies, open }) => companies === undefined && !open)
    .map(({ method, path }) => `${method} ${path}`)
  const document = openApiDocument({
    info: { title: 'waybridge admin port', description: DESCRIPTION.replace('OPERATIONS', forAll.join(', ')) },
    securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token of the admin port.' } },
    refusals: REFUSALS,
    schemas: { Id: ID_AS_TEXT },
    operations: Object.fromEntries([...operations, own].map((operation) => [operation.id, described(operation)])),
  })
  return own
}

function described({ open, refusals = [], ...operation }: Operation): DescribedOperation {
  const { companies, method, query } = operation
  const isForbidden = method !== 'GET' || companies === undefined
  const common = open ? [] : isForbidden ? [401, 403, 503] : [401, 503]
  const ofQuery = query ? ('page_token' in query.shape ? [400, 422] : [422]) : []
  const statuses = [...new Set([...common, ...ofQuery, ...refusals])]
  return { ...operation, credential: open ? undefined : 'token', refusals: statuses }
}

/** A JavaScript number cannot hold every id. */
const ID_AS_TEXT = { type: 'string', pattern: '^(?:0|[1-9]\\d{0,18})$', description: 'An id: digits, as text.' }
const NOTHING = new Scope([])

const REFUSALS = {
  400: 'The interval or the page token is wrong.',
  401: 'The header `Authorization: Bearer <token>` is missing, or its token is not known.',
  403: 'The token may not do this, or the company has no OAuth token.',
  404: 'There is no such object.',
  409: 'Devices would lose their route: repeat the request with `force=true` if you want that. Or a put is not the latest.',
  415: 'The content type cannot be read.',
  422: 'Incorrect input: a field, a parameter or the body is wrong.',
  502: 'The tracking API cannot be reached, or its answer cannot be understood.',
  503: 'Redis does not answer, or there is no room for the answer: ask again later.',
  504: 'The tracking API does not answer in time, or other processes change the roster all the time.',
}

const DESCRIPTION = `The state of the gateway, its devices, routes and parked positions.
The operations below /api and /companies are those of the tracking interface; they are relayed to the tracking API.
A token with the role "read" may use every operation with the method GET, and dry runs; a change needs the role "operate".
A token with "companies" sees and changes what belongs to these. What belongs to other companies is answered as what does not
exist, or left out. These operations need a token for all companies: OPERATIONS.

Ids are text. Instants are RFC 3339. Unknown fields are ignored. What is to be read (messages, evidence, actions, places) is
English, or German if the header Accept-Language begins with "de".`
