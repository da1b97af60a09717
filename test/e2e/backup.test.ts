import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { FORMAT } from '../../src/store/index.ts'
import { type Product, runProduct, startProduct } from '../rig/product.ts'
import { waybridge } from '../support/cli.ts'

const NOW = Math.floor(Date.now() / 1000)
const DEVICES = `
van-12: { name: Van 12, company_id: 7, courier_id: 42, route_id: 1001 }
van-14: { name: Van 14, company_id: 7, courier_id: 43 }
`
const soon = { timeout: 60_000, interval: 200 }

interface Status {
  readonly custody: Readonly<Record<string, number>>
}

describe('a backup of a data folder', () => {
  let product: Product
  let scratch: string
  let running: Product | undefined
  const file = () => join(scratch, 'backup.tar.gz')

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'waybridge-backup-'))
    product = await startProduct({ 'devices.yaml': DEVICES })
    for (const device of ['van-12', 'van-14']) await send(product, device, NOW - 60)
  })
  afterEach(async () => void (await running?.end().finally(() => (running = undefined))))
  afterAll(async () => {
    await product.end()
    await rm(scratch, { recursive: true, force: true })
  })

  /** Makes the configuration of the product with another data folder. */
  async function emptySite(name: string): Promise<string> {
    const dir = join(scratch, name)
    await mkdir(dir)
    const gateway = await readFile(join(product.dir, 'gateway.yaml'), 'utf8')
    await writeFile(join(dir, 'gateway.yaml'), gateway.replaceAll(product.dir, dir))
    await writeFile(join(dir, 'devices.yaml'), DEVICES)
    return dir
  }

  it('a backup made while the product runs restores account, positions, held fixes, duplicates and token', async () => {
    await expect.poll(() => account(product), soon).toMatchObject({ delivered: 1, held: 1, difference: 0 })
    const made = await waybridge(['backup', file(), '--config', product.dir])
    expect(made).toMatchObject({ code: 0, errors: '' })
    expect(made.out).toMatch(/KiB\. It holds positions and a token\.\n$/)
    const before = await account(product)
    // Later data are not in the backup.
    await send(product, 'van-12', NOW - 30)

    const dir = await emptySite('restored')
    const restored = await waybridge(['restore', file(), '--config', dir])
    expect(restored).toMatchObject({ code: 0, errors: '' })
    expect(restored.out).toContain('Start it: what waited then is pushed now.')
    running = await runProduct(dir)
    expect(await account(running)).toEqual(before)
    expect(await running.positions('1001', NOW - 600, NOW)).toHaveLength(1)
    expect(await readFile(join(dir, 'data/admin-token'), 'utf8')).toBe(
      await readFile(join(product.dir, 'data/admin-token'), 'utf8'),
    )
    await send(running, 'van-12', NOW - 60)
    await expect.poll(() => account(running as Product), soon).toMatchObject({ delivered: 1, filtered: 1 })
    await running.write('devices.yaml', DEVICES.replace('courier_id: 43', 'courier_id: 43, route_id: 1002'))
    await expect.poll(() => account(running as Product), soon).toMatchObject({ delivered: 2, held: 0, difference: 0 })
  })

  it('a backup can be made while nothing runs, even with mistakes in devices.yaml', async () => {
    const dir = await emptySite('stopped')
    await waybridge(['restore', file(), '--config', dir])
    await writeFile(join(dir, 'devices.yaml'), 'van-12: { company: 7 }')
    const copy = join(scratch, 'copy.tar.gz')
    expect(await waybridge(['backup', copy, '--config', dir])).toMatchObject({ code: 0, errors: '' })
    const again = await emptySite('again')
    expect(await waybridge(['restore', copy, '--config', again])).toMatchObject({ code: 0, errors: '' })
    running = await runProduct(again)
    expect(await account(running)).toMatchObject({ delivered: 1, held: 1, difference: 0 })
  })

  it.each([
    ['a file that is there', async () => ['backup', file(), '--config', product.dir], /exists: name another file/],
    [
      'a folder without data',
      async () => ['backup', join(scratch, 'none'), '--config', await emptySite('without')],
      /has no data of a private Redis/,
    ],
    ['no file', async () => ['restore', join(scratch, 'none'), '--config', product.dir], /There is no file/],
    [
      'a folder that is in use',
      async () => ['restore', file(), '--config', product.dir],
      /Another start is running on .*: end it, or choose another data_dir/,
    ],
    [
      'a file of another kind',
      async () => ['restore', join(product.dir, 'devices.yaml'), '--config', await emptySite('other')],
      /^tar: /,
    ],
  ] as const)('backup and restore say what is wrong with %s', async (_, words, message) => {
    const { code, errors } = await waybridge(await words())
    expect(errors).toMatch(message)
    expect(code).toBe(1)
  })

  it('a backup of a newer version is not restored', async () => {
    const dir = join(scratch, 'newer')
    await mkdir(dir)
    execFileSync('tar', ['-xzf', file(), '-C', dir])
    const manifest = JSON.parse(await readFile(join(dir, 'manifest.json'), 'utf8')) as object
    expect(manifest).toMatchObject({ data_format: FORMAT })
    await writeFile(join(dir, 'manifest.json'), JSON.stringify({ ...manifest, data_format: FORMAT + 1 }))
    const newer = join(scratch, 'newer.tar.gz')
    execFileSync('tar', ['-czf', newer, '-C', dir, '.'])
    const { code, errors } = await waybridge(['restore', newer, '--config', await emptySite('of-newer')])
    expect(errors).toContain(`The data in ${newer} are of a newer waybridge: their format is ${FORMAT + 1}`)
    expect(code).toBe(1)
  })

  it('a backup is not restored over existing data', async () => {
    const dir = await emptySite('full')
    await mkdir(join(dir, 'data'))
    await writeFile(join(dir, 'data/tracking.sqlite'), '')
    const { code, errors } = await waybridge(['restore', file(), '--config', dir])
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(/has data \(tracking\.sqlite\): move it away, or choose another data_dir/),
    ])
  })
})

async function send({ ports }: Product, device: string, timestamp: number) {
  const url = `http://127.0.0.1:${ports['http/osmand']}/?id=${device}&lat=52.5&lon=13.4&timestamp=${timestamp}`
  expect((await fetch(url)).status).toBe(200)
}

async function account(one: Product) {
  return (await one.admin<Status>('/admin/status')).custody
}
