import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PAGE_DIR } from './folder.mjs'
import { PARAGRAPHS_FILE, paragraphs } from './paragraphs.mjs'

/*
 * Builds the page without a bundler: TypeScript emits ES modules, the libraries are copied beside them, and an import map in
 * index.html names them. Everything below `assets/<stamp>/` is kept by browsers for ever: the stamp is a hash of all sources.
 * Runs on the user's Node, 20 or later; called by set-up and by docker/package/build.ts.
 */
const sources = fileURLToPath(new URL('../', import.meta.url))
const modules = fileURLToPath(new URL('../../../node_modules/', import.meta.url))

/** Files of the libraries that the page loads, by their name below `vendor/`. */
export const LIBRARIES = {
  'preact.js': 'preact/dist/preact.mjs',
  'hooks.js': 'preact/hooks/dist/hooks.mjs',
  'jsx-runtime.js': 'preact/jsx-runtime/dist/jsxRuntime.mjs',
  'leaflet.js': 'leaflet/dist/leaflet-src.esm.js',
  'uplot.js': 'uplot/dist/uPlot.esm.js',
  'pmtiles.js': 'pmtiles/dist/esm/index.js',
  'fflate.js': 'fflate/esm/browser.js',
  'vector-tile.js': '@mapbox/vector-tile/index.js',
  'point-geometry.js': '@mapbox/point-geometry/index.js',
  'pbf.js': 'pbf/index.js',
  'qr.js': 'qr/index.js',
  'leaflet.css': 'leaflet/dist/leaflet.css',
  'uplot.css': 'uplot/dist/uPlot.min.css',
}
/** Under which name modules import which library. */
const IMPORTS = {
  preact: 'preact.js',
  'preact/hooks': 'hooks.js',
  'preact/jsx-runtime': 'jsx-runtime.js',
  leaflet: 'leaflet.js',
  uplot: 'uplot.js',
  pmtiles: 'pmtiles.js',
  fflate: 'fflate.js',
  '@mapbox/vector-tile': 'vector-tile.js',
  '@mapbox/point-geometry': 'point-geometry.js',
  pbf: 'pbf.js',
  qr: 'qr.js',
}

/** Whether the built page is that of the present sources. */
export function isPageBuilt() {
  return isBuiltOf(stampOf())
}

/** @param {string} stamp */
function isBuiltOf(stamp) {
  try {
    return readFileSync(join(PAGE_DIR, 'stamp'), 'utf8') === stamp
  } catch {
    return false
  }
}

/** Builds the page; the new files replace the earlier ones at the end. Throws with what the compiler reports. */
export async function buildPage() {
  const stamp = stampOf()
  const work = `${PAGE_DIR}.${process.pid}`
  const placed = `${work}.placed`
  const assets = join(work, 'assets', stamp)
  rmSync(work, { recursive: true, force: true })
  mkdirSync(join(assets, 'vendor'), { recursive: true })
  const compiled = compile(join(assets, 'app'))
  for (const [name, file] of Object.entries(LIBRARIES)) copyLibrary(join(modules, file), join(assets, 'vendor', name))
  cpSync(join(sources, 'styles'), join(assets, 'styles'), { recursive: true })
  const { outlines, places, villages, waters } = await import('./geography.mjs')
  const write = (/** @type {string} */ name, /** @type {object} */ content) =>
    writeFileSync(join(assets, name), JSON.stringify(content))
  write('outlines.json', outlines('50m'))
  write('outlines-near.json', outlines('10m'))
  write('waters.json', waters())
  write('places.json', places())
  cpSync(join(assets, 'places.json'), join(work, 'places.json'))
  mkdirSync(join(assets, 'villages'))
  for (const [cell, listed] of villages()) write(`villages/${cell}.json`, listed)
  writeFileSync(join(assets, 'findings.json'), JSON.stringify(paragraphs()))
  await compiled
  writeFileSync(join(work, 'index.html'), indexHtml(assets, `/assets/${stamp}`))
  writeFileSync(join(work, 'stamp'), stamp)
  // Other processes may build it as well, and put it in place, or remove what this one has put there, at any time.
  while (!isBuiltOf(stamp))
    try {
      cpSync(work, placed, { recursive: true })
      rmSync(PAGE_DIR, { recursive: true, force: true })
      renameSync(placed, PAGE_DIR)
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')) throw error
    }
  for (const folder of [work, placed]) rmSync(folder, { recursive: true, force: true })
}

/** A hash of all that the page is built from. The lock file stands for the libraries. */
function stampOf() {
  const hash = createHash('sha256')
  for (const file of [join(sources, '../../package-lock.json'), PARAGRAPHS_FILE]) hash.update(readFileSync(file))
  for (const file of filesBelow(sources)) hash.update(`${file}\0`).update(readFileSync(join(sources, file)))
  return hash.digest('hex').slice(0, 16)
}

/** @param {string} folder */
function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.\w+$/.test(name) && !/\.(png|md)$/.test(name))
    .toSorted()
}

/** Emits the modules of the page; `npm run types` checks them. @param {string} outDir */
async function compile(outDir) {
  const tsc = join(modules, 'typescript/bin/tsc')
  const options = ['--outDir', outDir, '--rootDir', sources, '--noResolve', '--noCheck']
  const compiler = spawn(process.execPath, [tsc, '-p', sources, ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [compiler.stdout, compiler.stderr]) stream.on('data', (text) => (said += text))
  const [code] = await once(compiler, 'close')
  if (code !== 0) throw new Error(`the page cannot be built:\n${said}`)
}

/**
 * Copies a library without the comment that names a source map, which the page does not have. @param {string} from @param
 * {string} to
 */
function copyLibrary(from, to) {
  writeFileSync(to, readFileSync(from, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, ''))
}

/** @param {string} assets @param {string} base */
function indexHtml(assets, base) {
  const imports = Object.fromEntries(Object.entries(IMPORTS).map(([name, file]) => [name, `${base}/vendor/${file}`]))
  const loaded = filesBelow(`${assets}/`).filter((file) =>
    /^app\/(?!map\/tiles\/).*\.js$|^vendor\/(preact|hooks|jsx)/.test(file),
  )
  const styles = [
    'vendor/leaflet.css',
    'vendor/uplot.css',
    ...filesBelow(join(assets, 'styles'))
      .filter((file) => file.endsWith('.css'))
      .map((file) => `styles/${file}`),
  ]
  return readFileSync(join(sources, 'index.html'), 'utf8')
    .replace('<!--imports-->', `<script type="importmap">${JSON.stringify({ imports })}</script>`)
    .replace('<!--styles-->', styles.map((file) => `<link rel="stylesheet" href="${base}/${file}">`).join('\n    '))
    .replace('<!--modules-->', loaded.map((file) => `<link rel="modulepreload" href="${base}/${file}">`).join('\n    '))
    .replaceAll('<!--base-->', base)
}
