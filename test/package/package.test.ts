import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import product from '../../package.json' with { type: 'json' }
import { VERSION } from '../../src/version.ts'
import { type Installation, install, readyPorts } from '../support/installed.ts'
import { sheetFiles, zip } from '../support/xlsx.ts'

let installed: Installation

beforeAll(async () => void (installed = await install()))
afterAll(() => installed?.remove())

describe('the packed file', () => {
  it('the packed file contains JavaScript, the page, the scripts of Redis, and nothing else of the clone', () => {
    const { files } = installed
    expect(files).toEqual(
      expect.arrayContaining(['dist/src/cli/index.js', 'dist/src/config/xlsx-worker.js', 'dist/page/index.html']),
    )
    const scripts = readdirSync('src/store/lua').map((name) => `dist/src/store/lua/${name}`)
    expect(files).toEqual(expect.arrayContaining([...scripts, 'dist/src/process/tether.sh']))
    const others = files.filter((file) => !/^dist\/(src|protocols)\/.*\.(js|mjs|lua|sh)$|^dist\/page\//.test(file))
    expect(others.toSorted()).toEqual([
      'CHANGELOG.md',
      'README.md',
      'config/README.md',
      'config/fleet.md',
      'config/mappings-reference.yaml',
      'config/reference.yaml',
      'config/tracking-reference.yaml',
      'dist/LICENCES.txt',
      'dist/package.json',
      'dist/sbom.cdx.json',
      'docker/README.md',
      'docker/day-after.md',
      'docker/moving-in.md',
      'docker/redis.conf',
      'docker/redis.md',
      'docker/sizes.md',
      'docker/systemd/sysusers.conf',
      'docker/systemd/waybridge.service',
      'docker/systemd/waybridge.socket',
      'docker/upkeep.md',
      'package.json',
      'protocols/README.md',
      'protocols/protocols.txt',
      'src/admin/README.md',
      'src/admin/api.md',
      'src/admin/metrics.txt',
      'src/alerts/README.md',
      'src/cli/waybridge.mjs',
      'src/diagnose/README.md',
      'src/diagnose/conditions.md',
      'src/tracking/README.md',
    ])
  })

  it('the packed file has at most 20 MB', () => expect(installed.size).toBeLessThan(20_000_000))

  it('the packed file starts no TypeScript file', () => {
    const code = installed.files.filter((file) => /^dist\/.*\.m?js$/.test(file) && !file.startsWith('dist/page/'))
    expect(code.length).toBeGreaterThan(500)
    const named = code.filter((file) =>
      /['"`][^'"`\s]*\.ts['"`]/.test(readFileSync(join(installed.folder, file), 'utf8')),
    )
    expect(named).toEqual([])
  })

  it('the packed file says which Node it needs', () => expect(product.engines.node).toBe('>=24'))
})

describe('the installed package', () => {
  it('the installed package has no tool for building or testing', () => {
    const names = new Set(packagesIn(join(installed.folder, 'node_modules')).map(({ name }) => name))
    expect(names).toContain('bullmq')
    // Packages of the product need these two: types of streams, and the schemas of fastify.
    expect(Object.keys(product.devDependencies).filter((name) => names.has(name))).toEqual(['@types/node', 'ajv'])
  })

  it('every installed package and every part of the page is in the list of materials', () => {
    const listed = new Set(materials().components.map(({ name }) => name))
    const found = packagesIn(join(installed.folder, 'node_modules')).map(({ name }) => name)
    expect(found.length).toBeGreaterThan(100)
    expect(found.filter((name) => !listed.has(name))).toEqual([])
    expect([...listed]).toEqual(expect.arrayContaining(['preact', 'leaflet', 'uplot', 'world-atlas', 'GeoNames']))
    expect([...listed]).not.toContain('typescript')
  })

  it('every installed package has a known licence, with its text if the package has one', () => {
    const texts = readFileSync(join(installed.folder, 'dist/LICENCES.txt'), 'utf8')
    const { components } = materials()
    expect(components.filter(({ licenses }) => !licenses?.length)).toEqual([])
    expect(
      components.filter(({ name, version }) => !texts.includes(`${name}${version ? ` ${version}` : ''}, `)),
    ).toEqual([])
    expect(texts).not.toContain(', unknown')
    expect(texts.match(/Permission is hereby granted/g)!.length).toBeGreaterThan(80)
  })

  it('the installed packages have the tested versions', async () => {
    const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as Lock
    const needed = Object.entries(packages).filter(([path, { dev, os }]) => path !== '' && !dev && !os)
    const found = packagesIn(join(installed.folder, 'node_modules'))
    const versions = new Map(found.map(({ path, version }) => [relative(installed.folder, path), version]))
    expect(needed.length).toBeGreaterThan(100)
    expect(needed.filter(([path, { version }]) => versions.get(path) !== version)).toEqual([])
    expect([...versions].filter(([path, version]) => packages[path]?.version !== version)).toEqual([])
  })
})

describe('an empty folder', () => {
  it('the installed waybridge --version prints the version and the commit', async () =>
    expect(await installed.waybridge('--version')).toEqual({ code: 0, out: `${VERSION}\n`, errors: '' }))

  it('the installed waybridge start says how to make a configuration', async () => {
    const { code, errors } = await installed.waybridge('start')
    expect([code, errors]).toEqual([78, 'config: there is no such directory: `waybridge init config` makes one\n'])
  })

  it('the installed waybridge demo delivers every fix', async () => {
    const { code, out } = await installed.waybridge('demo', '--vans', '8', '--seconds', '3')
    expect([code, out.trim().split('\n').at(-1)]).toEqual([0, expect.stringMatching(/ lost=0 duplicates=0$/)])
  }, 120_000)

  it('the installed init, check and start give a product that accepts fixes, shows its page and reads a spreadsheet', async () => {
    const { waybridge, home } = installed
    expect(await waybridge('init', 'config')).toMatchObject({ code: 0, errors: '' })
    const file = join(home, 'config/gateway.yaml')
    const text = (await readFile(file, 'utf8'))
      .replace('#companies: [{', 'companies: [{')
      .replace('#listeners:', `listeners: [${GT06}]`)
      .replace('#broker:', 'broker: null\n  #broker:')
      .replaceAll(/#port: 80[89]0/g, 'port: 0')
    await writeFile(file, text.replace('"${env:EXAMPLE_APIKEY}"', 'k, oauth_token: t'))
    const fleet = await waybridge('simulate', '--devices', '--vans', '2', '--protocols', 'gt06')
    await writeFile(join(home, 'config/devices.yaml'), fleet.out.replaceAll(/company_id: "?1"?/g, 'company_id: 7'))
    expect(await waybridge('check')).toMatchObject({ code: 0 })

    const running = installed.begin('start')
    onTestFinished(() => void running.kill('SIGKILL'))
    const ports = await readyPorts(running, join(home, '.data'))
    const port = `gt06=${ports['tcp/gt06']}`
    const vans = ['--vans', '2', '--protocols', 'gt06', '--interval', '1s', '--duration', '3s', '--port', port]
    const { code, out } = await waybridge('simulate', ...vans)
    expect([code, out.trim().split('\n').at(-1)]).toEqual([0, expect.stringMatching(/^sent=([1-9]\d*) acked=\1$/)])
    expect(await (await fetch(`http://127.0.0.1:${ports.admin}/`)).text()).toContain('<script type="importmap">')
    expect(await waybridge('status')).toMatchObject({ code: 0 })
    await writeFile(
      join(home, 'tour.xlsx'),
      zip(
        sheetFiles([
          ['device', 'route_id', 'date'],
          ['nobody', 5, '2026-11-20'],
        ]),
      ),
    )
    const checked = await waybridge('routes', 'check', 'tour.xlsx')
    expect(checked.out + checked.errors).toContain('nobody')
    const ended = once(running, 'exit')
    running.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  }, 120_000)
})

interface Materials {
  readonly components: readonly {
    readonly name: string
    readonly version?: string
    readonly licenses?: readonly object[]
  }[]
}

interface Lock {
  /** `os`: only for this system. */
  readonly packages: Readonly<Record<string, { readonly version: string; readonly dev?: true; readonly os?: object }>>
}

function materials(): Materials {
  return JSON.parse(readFileSync(join(installed.folder, 'dist/sbom.cdx.json'), 'utf8')) as Materials
}

/** Returns every package below a node_modules folder. */
function packagesIn(folder: string): { name: string; version: string; path: string }[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (name.startsWith('.') || !statSync(path).isDirectory()) return []
    if (name.startsWith('@')) return packagesIn(path)
    const own = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { name: string; version: string }
    const below = join(path, 'node_modules')
    return [{ ...own, path }, ...(existsSync(below) ? packagesIn(below) : [])]
  })
}

const GT06 = '{ transport: tcp, port: 0, protocol: gt06, host: 127.0.0.1 }'
