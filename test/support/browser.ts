import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { buildPage, isPageBuilt } from '../../src/page/build/index.mjs'
import { type Product, startProduct } from '../rig/product.ts'
import { findChromium } from './chromium.mjs'

export { findChromium }

/** A real browser in front of a product that runs. */
export interface PageFixture {
  readonly product: Product
  readonly token: string
  /** Opens a view in a window without a token of before, and waits until it has loaded. What goes wrong in it is in `faults`. */
  open(view: string, options?: WindowOptions): Promise<OpenedPage>
}

interface WindowOptions extends Pick<BrowserContextOptions, 'colorScheme' | 'locale'> {
  /** Default: the right one. */
  readonly token?: string | null
  readonly viewport?: { readonly width: number; readonly height: number }
}

interface Window {
  readonly page: Page
  /** Errors of scripts, violations of the content security policy, and requests to other hosts. */
  readonly faults: string[]
}

interface OpenedPage extends Window {
  close(): Promise<void>
}

export const DESKTOP = { width: 1440, height: 900 }
export const PHONE = { width: 390, height: 844 }
/** Colour schemes, windows and languages, each with each other one once. */
export const LOOKS = [
  ['light', DESKTOP, 'en-GB'],
  ['dark', DESKTOP, 'de-DE'],
  ['light', PHONE, 'de-DE'],
  ['dark', PHONE, 'en-GB'],
] as const

/** Starts the product with these files, and a browser. */
export function pageFixture(files: Readonly<Record<string, string>>, yaml = ''): PageFixture {
  const all = {} as { product: Product; token: string; browser: Browser }
  /** Windows that are closed, by their language: to open one again costs a quarter of a new one, which has a process of its own. */
  const closed = new Map<string, Window[]>()

  beforeAll(async () => {
    if (!isPageBuilt()) await buildPage()
    all.product = await startProduct(files, yaml)
    // None if the configuration has tokens of its own.
    all.token = (await readFile(join(all.product.dir, 'data/admin-token'), 'utf8').catch(() => '')).trim()
    all.browser = await chromium.launch(chromiumOptions())
  })
  afterAll(async () => {
    await all.browser?.close()
    await all.product?.end()
  })

  async function open(view: string, options: WindowOptions = {}): Promise<OpenedPage> {
    const { token = all.token, viewport = DESKTOP, colorScheme = 'light', locale = 'en-GB' } = options
    const known = closed.get(locale) ?? []
    closed.set(locale, known)
    const window = known.pop() ?? (await newWindow(locale))
    const { page, faults } = window
    faults.length = 0
    await page.setViewportSize(viewport)
    // Without a graphics card, an animation takes CPU time all the time.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.goto(`${origin()}/#${token === null ? view : `token=${token}&view=${encodeURIComponent(view)}`}`)
    return { ...window, close: () => leave(window, known) }
  }

  async function newWindow(locale: string): Promise<Window> {
    const page = await (await all.browser.newContext({ locale })).newPage()
    page.setDefaultTimeout(180_000)
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) faults.push(message.text())
    })
    page.on('request', (request) => {
      if (!/^(data|blob|about):/.test(request.url()) && !request.url().startsWith(origin()))
        faults.push(`asks ${request.url()}`)
    })
    return { page, faults }
  }

  async function leave(window: Window, known: Window[]): Promise<void> {
    await window.page.evaluate('sessionStorage.clear()')
    // A handler may still be under way.
    await window.page.unrouteAll({ behavior: 'ignoreErrors' })
    await window.page.goto('about:blank')
    known.push(window)
  }

  const origin = () => `http://127.0.0.1:${all.product.ports.admin}`
  return {
    get product() {
      return all.product
    },
    get token() {
      return all.token
    },
    open,
  }
}

/** In a container as root, and in CI, Chromium's own sandbox cannot start. */
export function chromiumOptions() {
  const { executablePath, env } = findChromium() ?? {}
  return { executablePath, env, args: ['--no-sandbox', '--disable-dev-shm-usage'] }
}

/** Checks a page with axe: no finding that is serious or critical. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source)
  const found: AxeResult = await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')
  const serious = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  expect(serious.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 200))])).toEqual([])
}

interface AxeResult {
  readonly violations: readonly { id: string; impact: string; nodes: readonly { html: string }[] }[]
}
