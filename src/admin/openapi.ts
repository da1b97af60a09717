import { openApiDocument } from '../tracking/openapi.ts'
import { NAMED_SCHEMAS } from '../tracking/operations.ts'
import { type Operation, templateOf } from './operation.ts'

/** `GET /openapi.json`: the OpenAPI document of these operations and of itself. */
export function openApiOperation(operations: readonly Operation[]): Operation {
  const own: Operation = {
    method: 'GET',
    path: '/openapi.json',
    doc: { id: 'getOpenApi', summary: 'Get this document' },
    answer: async () => document,
  }
  const document = openApiDocument({
    info: { title: 'waybridge admin port', description: DESCRIPTION },
    securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token of the admin port.' } },
    refusals: REFUSALS,
    schemas: NAMED_SCHEMAS,
    operations: Object.fromEntries([...operations, own].map(described)),
  })
  return own
}

function described({ method, path, open, doc: { id, refusals = [], ...rest } }: Operation) {
  const common = open ? [] : method === 'GET' ? [401, 503] : [401, 403, 503]
  const credential = open ? undefined : 'token'
  const statuses = [...new Set([...common, ...refusals])]
  return [id, { ...rest, method, path: templateOf(path), credential, refusals: statuses }] as const
}

const REFUSALS = {
  400: 'The interval or the page token is wrong.',
  401: 'The header `Authorization: Bearer <token>` is missing, or its token is not known.',
  403: 'The token may not do this, or the company has no OAuth token.',
  404: 'There is no such object.',
  409: 'Most devices would lose their route: repeat the request with `force=true` if you want that.',
  415: 'The content type cannot be read.',
  422: 'Incorrect input: a field, a parameter or the body is wrong.',
  502: 'The tracking API cannot be reached, or its answer cannot be understood.',
  503: 'Redis does not answer, or there is no room for the answer: ask again later.',
  504: 'The tracking API does not answer in time, or other processes change the roster all the time.',
}

const DESCRIPTION = `The state of the gateway, its devices, routes and parked positions.
The operations below /api and /companies are those of the tracking interface; they are relayed to the tracking API.
A token with the role "read" may use every operation with the method GET, and dry runs; a change needs the role "operate".

Ids are text. Instants are RFC 3339. Unknown fields are ignored.`
