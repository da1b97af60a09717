import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { configSchema } from '../../../src/config/schema.ts'
import { ConnectionLimits } from '../../../src/gateway/admit/connection-limits.ts'
import { Slots } from '../../../src/gateway/admit/slots.ts'
import { observations } from '../../../src/observe/observations.ts'
import { english } from '../../../src/texts/text.ts'
import { listening } from '../../support/listening.ts'

/** Returns the evidence of the finding `open_files`, or undefined. */
function said(): readonly string[] | undefined {
  return observations
    .current()
    .find(({ code }) => code === 'open_files')
    ?.evidence.map(english)
}

it('warns of too few open files once four in five of the connections that they allow are open', async () => {
  const { limits } = configSchema(null).parse({})
  const slots = new Slots(limits.max_connections_per_device)
  const connectionLimits = new ConnectionLimits(limits, { slots, fit: 10 })
  const server = createServer((socket) => connectionLimits.admit(socket, { transport: 'tcp', address: '127.0.0.1' }))
  onTestFinished(() => void server.close())
  const port = await listening(server)
  const open = async () => {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
  }
  for (let opened = 0; opened < 8; opened++) await open()
  await expect.poll(() => connectionLimits.open.all).toBe(8)
  expect(said()).toBeUndefined()
  await open()
  await expect.poll(said).toEqual(['8 of 10 connections are open'])
})
