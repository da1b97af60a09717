import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runProduct } from '../rig/product.ts'

/** A port of the default listeners. */
const AUTO_PORT = 5000

/** Takes a port, unless another program already uses it. */
async function take(port: number): Promise<void> {
  const server: Server = createServer().listen(port, '0.0.0.0')
  // Rejects if another program uses the port.
  await once(server, 'listening').catch(() => {})
  onTestFinished(() => void server.close())
}

async function folderWith(listeners: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-ports-'))
  const yaml = `
data_dir: ${join(dir, 'data')}
redis: { max_memory: 256mb }
${listeners}
mqtt: { broker: null }
tracking: { listen: { host: 127.0.0.1, port: 0 } }
admin: { port: 0 }
companies: [{ company_id: 7, apikey: a, oauth_token: b }]
`
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  await writeFile(join(dir, 'devices.yaml'), '{}\n')
  return dir
}

it('a default port in use is a finding, other ports are open, and the page names the one for any tracker', async () => {
  await take(AUTO_PORT)
  const product = await runProduct(await folderWith(''))
  onTestFinished(async () => void (await product.end()))
  const findings = async () => {
    const status = await product.admin<{ findings: { code: string; subject: object }[] }>('/admin/status')
    return status.findings.filter(({ code }) => code === 'port_taken').map(({ subject }) => subject)
  }
  await expect.poll(findings, { timeout: 60_000 }).toContainEqual({ listener: 'tcp/auto' })
  expect(product.ports['tcp/teltonika']).toBe(5027)
  await expect
    .poll(() => product.said())
    .toMatch(/ready: .*udp\/auto 5000.*, and \d{3} ports for a single protocol each/)
  const page = await (await fetch(`http://127.0.0.1:${product.ports.admin}/`)).text()
  expect(page).toContain(`<meta name="waybridge-port" content="${AUTO_PORT}">`)
})

it('a start ends if a port of gateway.yaml is in use, and names it', async () => {
  await take(AUTO_PORT)
  const dir = await folderWith(`listeners: [{ transport: tcp, port: ${AUTO_PORT}, protocol: auto }]`)
  await expect(runProduct(dir)).rejects.toThrow(/another program has this port/)
})
