import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { startProduct } from '../support/product.ts'

const REQUEST = 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'
/** 255 KB. */
const FLOOD = REQUEST.repeat(255_000 / REQUEST.length)

it('a flood of requests for the metrics costs the supervisor no memory', async () => {
  const product = await startProduct({})
  onTestFinished(async () => void (await product.end()))
  const [supervisor] = product.pidsOf('start')
  const metrics = async () => (await fetch(`http://127.0.0.1:${product.ports.admin}/metrics`)).text()
  await metrics()
  const before = residentBytes(supervisor)
  for (let round = 0; round < 5; round++)
    await Promise.all(Array.from({ length: 8 }, () => flood(product.ports.admin, FLOOD)))
  await expect.poll(metrics).toContain('waybridge_refused_total{reason="pipelining"} 40')
  expect(residentBytes(supervisor) - before).toBeLessThan(64 * 1024 * 1024)
})

/** Sends bytes on a connection of its own that reads nothing for as long as it can send; resolves once it has ended. */
async function flood(port: number, bytes: string): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes, () => socket.resume())
  await new Promise((resolve) => socket.once('close', resolve))
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}
