import type { FastifyInstance } from 'fastify'
import { OPERATIONS, type OperationName, routerPath } from '../operations.ts'
import { addItems } from './add-items.ts'
import type { ServiceContext } from './context.ts'
import { courierPositions } from './courier-positions.ts'
import { deleteItem } from './delete-item.ts'
import { deleteItems } from './delete-items.ts'
import { deleteNumber } from './delete-number.ts'
import { getNumber } from './get-number.ts'
import { listItems } from './list-items.ts'
import { listNumbers } from './list-numbers.ts'
import type { OperationRoute, ServedOperation } from './operation.ts'
import { pushPositions } from './push-positions.ts'
import { putNumber } from './put-number.ts'
import { returnItems } from './return-items.ts'

const SERVED: Readonly<Record<OperationName, ServedOperation>> = {
  getNumber,
  putNumber,
  listNumbers,
  deleteNumber,
  pushPositions,
  courierPositions,
  addItems,
  listItems,
  deleteItems,
  deleteItem,
  returnItems,
  returnItemsV1: returnItems,
}

/** Serves every operation of the table under its method and path. */
export function serveOperations(app: FastifyInstance, context: ServiceContext): void {
  for (const [name, { method, path }] of Object.entries(OPERATIONS)) {
    const { admit, answer } = SERVED[name as OperationName]
    app.route<OperationRoute>({
      method,
      url: routerPath(path),
      onRequest: async (request) => admit(context, request),
      handler: async (request, reply) => answer(context, request, reply),
    })
  }
}
