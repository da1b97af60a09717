/** The apikeys of companies: of each, the one first that the API accepted last. */
export class Apikeys {
  readonly #lists: Map<string, readonly string[]>

  constructor(configured: ReadonlyMap<string, readonly string[]>) {
    this.#lists = new Map(configured)
  }

  of(company: string): readonly string[] {
    return this.#lists.get(company) ?? []
  }

  /** Replaces the keys of a company. @returns whether there are others now */
  replace(company: string, configured: readonly string[]): boolean {
    if (new Set(configured).symmetricDifference(new Set(this.of(company))).size === 0) return false
    this.#lists.set(company, configured)
    return true
  }

  /** Puts a key first, unless it was replaced while the API was asked. */
  accepted(company: string, apikey: string): void {
    const keys = this.of(company)
    if (apikey !== keys[0] && keys.includes(apikey))
      this.#lists.set(company, [apikey, ...keys.filter((other) => other !== apikey)])
  }
}
