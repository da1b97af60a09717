import type { JSX } from 'preact'
import { useCompanies } from '../data/hooks.ts'
import { words } from '../words/index.ts'

interface CompanyFieldProps {
  readonly value: string
  readonly change: (id: string) => void
  readonly error?: string
}

/** Chooses one of the configured companies; if there is none, explains how to configure one. */
export function CompanyField({ value, change, error }: CompanyFieldProps): JSX.Element {
  const companies = useCompanies()
  if (companies.length === 0)
    return (
      <div class="field">
        <span>{words.van.field.company_id}</span>
        <p>{words.van.noCompany}</p>
        <code class="mono command">{EXAMPLE}</code>
      </div>
    )
  return (
    <label class={`field ${error ? 'is-wrong' : ''}`}>
      <span>{words.van.field.company_id}</span>
      <select value={value} onChange={(event) => change(event.currentTarget.value)}>
        {companies.map(({ company_id, name }) => (
          <option key={company_id} value={company_id}>
            {name ? `${name} (${company_id})` : company_id}
          </option>
        ))}
      </select>
      {error && <span class="field-error">{error}</span>}
    </label>
  )
}

const EXAMPLE = 'companies: [{ company_id: 7, apikey: "…" }]'
