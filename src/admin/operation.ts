import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'

/** One operation of the admin port: who asks is known when it is asked, what it throws becomes an answer in errors.ts. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** Needs no token. */
  readonly open?: true
  readonly answer: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
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
  for (const { method, path, open, answer } of operations)
    app.route({ method, url: path, onRequest: open ? [] : access, handler: answer })
  for (const [path, some] of Map.groupBy(operations, (operation) => operation.path)) refuseOthers(app, path, some)

  const known = operations.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`).join(', ')
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: `there is ${known}` }))
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
