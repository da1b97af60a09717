import type { FastifyInstance } from 'fastify'
import { openApiDocument } from '../openapi.ts'

/** What the service can do, for programs; needs no credentials. */
export function openapi(app: FastifyInstance): void {
  const json = JSON.stringify(openApiDocument())
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(json))
}
