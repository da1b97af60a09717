import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../../data/api.ts'
import { useCompanies } from '../../data/hooks.ts'
import { exact } from '../../format.ts'
import { messageOf } from '../../parts/basics.tsx'
import { CompanyField } from '../../parts/company-field.tsx'
import { Dialog, Field } from '../../parts/dialog.tsx'
import { toast } from '../../parts/toast.tsx'
import { words } from '../../words/index.ts'

interface NameManyProps {
  readonly devices: readonly string[]
  readonly close: (isChanged: boolean) => void
}

type Typed = Readonly<Record<'name' | 'courier_id' | 'route_id', string>>

/** Names several devices of one company; each may get a courier and a route. Refused ones stay in the form. */
export function NameManyDialog({ devices, close }: NameManyProps): JSX.Element {
  const companies = useCompanies()
  const [company, setCompany] = useState<string>()
  const [rows, setRows] = useState<ReadonlyMap<string, Typed>>(new Map())
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map())
  const [done, setDone] = useState<ReadonlySet<string>>(new Set())
  const companyId = company ?? companies[0]?.company_id ?? ''
  const left = devices.filter((device) => !done.has(device))
  const typed = (device: string): Typed => rows.get(device) ?? EMPTY
  const save = async () => {
    const saved = new Set(done)
    const failed = new Map<string, string>()
    for (const device of left) {
      const given = Object.entries(typed(device)).filter(([, text]) => text.trim() !== '')
      const body = { company_id: companyId, ...Object.fromEntries(given) }
      await api.putDevice(device, body).then(
        () => saved.add(device),
        (error: unknown) => failed.set(device, messageOf(error)),
      )
    }
    setDone(saved)
    setErrors(failed)
    if (saved.size > 0) toast(words.arrivals.named(saved.size, exact(saved.size)))
    if (failed.size === 0) close(true)
  }
  return (
    <Dialog
      title={words.arrivals.nameMany(devices.length, exact(devices.length))}
      close={() => close(done.size > 0)}
      submit={() => void save()}
      actions={
        <button type="submit" class="button primary" disabled={!companyId.trim()}>
          {words.van.save}
        </button>
      }
    >
      <CompanyField value={companyId} change={setCompany} />
      {left.map((device) => (
        <fieldset key={device} class="many-row">
          <legend class="mono">{device}</legend>
          {(['name', 'courier_id', 'route_id'] as const).map((name) => (
            <Field
              key={name}
              label={words.van.field[name]}
              value={typed(device)[name]}
              required={name === 'courier_id' && typed(device).route_id !== ''}
              change={(text) =>
                setRows((before) => new Map(before).set(device, { ...(before.get(device) ?? EMPTY), [name]: text }))
              }
            />
          ))}
          {errors.has(device) && <p class="field-error">{errors.get(device)}</p>}
        </fieldset>
      ))}
    </Dialog>
  )
}

const EMPTY: Typed = { name: '', courier_id: '', route_id: '' }
