/** The apikeys of each company. A keyring is never changed, only replaced. */
export type Keyring = ReadonlyMap<string, readonly string[]>

/** The apikeys of companies: of each, the one first that the API accepted last. */
export class Apikeys {
  #keys: Keyring

  constructor(configured: Keyring) {
    this.#keys = configured
  }

  of(company: string): readonly string[] {
    return this.#keys.get(company) ?? []
  }

  /** Replaces the keys of all companies. Returns the companies that have others now. */
  replace(configured: Keyring): ReadonlySet<string> {
    const hasOthers = (company: string) =>
      new Set(configured.get(company)).symmetricDifference(new Set(this.of(company))).size > 0
    const changed = new Set([...this.#keys.keys(), ...configured.keys()].filter(hasOthers))
    this.#keys = new Map(Array.from(configured, ([id, keys]) => [id, changed.has(id) ? keys : this.of(id)]))
    return changed
  }

  /** Puts a key first, unless it was replaced while the API was asked. */
  accepted(company: string, apikey: string): void {
    const keys = this.of(company)
    if (apikey !== keys[0] && keys.includes(apikey))
      this.#keys = new Map(this.#keys).set(company, [apikey, ...keys.filter((other) => other !== apikey)])
  }
}
