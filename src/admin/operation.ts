import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { DescribedOperation } from '../tracking/openapi.ts'
import type { Caller } from './access.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; absent where the operation needs no token. */
    caller?: Caller
    /** Whether it asks for a change: then its token must be one to operate with. */
    changes: boolean
    /** What an operation says to the audit log of what it changed: `{ added: 3, removed: 1 }`. */
    audit?: Readonly<Record<string, number | boolean>>
  }
}

/** One operation of the admin port: who asks is known when it is asked, what it throws becomes an answer in errors.ts. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As fastify's router takes it. */
  readonly path: string
  /** Needs no token. */
  readonly open?: true
  /** Whether a request only asks what a change would do; without it, what is no GET asks for a change. */
  readonly isDryRun?: (request: FastifyRequest) => boolean
  /** What there is to refuse before the body is looked at. @throws Refusal */
  readonly admit?: (request: FastifyRequest) => Promise<void>
  /** Reads its body itself, of any size and type. */
  readonly rawBody?: true
  readonly answer: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  /** How the OpenAPI document describes it; without it, it is left out there. */
  readonly doc?: OperationDoc
}

/** What an OpenAPI document says of an operation beside its method, path and token. */
export interface OperationDoc extends Omit<DescribedOperation, 'method' | 'path' | 'credential' | 'refusals'> {
  /** The operationId. */
  readonly id: string
  /** Statuses beside 401, 403 and 503, which the document adds. */
  readonly refusals?: readonly number[]
}

/**
 * Registers operations, and what else is asked of the port: another method of a path is 405, any other path 404.
 * @param access answers for whoever may not
 */
export function register(
  app: FastifyInstance,
  operations: readonly Operation[],
  access: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  app.decorateRequest('caller').decorateRequest('audit').decorateRequest('changes', false)
  const add = (scope: FastifyInstance, raw?: true) => {
    for (const { method, path, open, isDryRun, admit, rawBody, answer } of operations) {
      const note = async (request: FastifyRequest) => void (request.changes = method !== 'GET' && !isDryRun?.(request))
      const onRequest = [note, ...(open ? [] : [access]), ...(admit ? [admit] : [])]
      if (rawBody === raw) scope.route({ method, url: path, onRequest, handler: answer })
    }
  }
  add(app)
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    add(scope, true)
  })
  for (const [path, some] of Map.groupBy(operations, (operation) => operation.path)) refuseOthers(app, path, some)

  const message = `there is ${adminPaths(operations).join(', ')}`
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message }))
}

/** A path with its parameters in braces, as it is written for people. */
export function templateOf(path: string): string {
  return path.replaceAll(/::|:(\w+)(?:\([^)]*\))?/g, (colons, name?: string) => (name ? `{${name}}` : colons[0]))
}

/** The port's own operations, a path each: those of the relay are the tracking interface's. */
function adminPaths(operations: readonly Operation[]): string[] {
  const own = Map.groupBy(operations, ({ path }) => path)
  return [...own]
    .filter(([path]) => path.startsWith('/admin/'))
    .map(([path, some]) => `${some.map(({ method }) => method).join('|')} ${templateOf(path)}`)
}

function refuseOthers(app: FastifyInstance, path: string, operations: readonly Operation[]): void {
  const taken = operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const allow = taken.join(', ')
  app.route({
    method: METHODS.filter((method) => !taken.includes(method)),
    url: path,
    handler: (_request, reply) =>
      reply
        .code(405)
        .header('allow', allow)
        .send({ message: `here is only ${allow}` }),
  })
}

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
