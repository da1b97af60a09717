import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { DeviceJson } from '../../../admin/schemas/devices.ts'
import { api } from '../../data/api.ts'
import { RequestError } from '../../data/client.ts'
import { useCompanies } from '../../data/hooks.ts'
import { Failure } from '../../parts/basics.tsx'
import { CompanyField } from '../../parts/company-field.tsx'
import { Dialog, Field } from '../../parts/dialog.tsx'
import { toast } from '../../parts/toast.tsx'
import { useWork } from '../../parts/work.ts'
import { words } from '../../words/index.ts'

interface EntryDialogProps {
  /** The device; for an unconfigured one, what is known of it. */
  readonly detail: Pick<DeviceJson, 'id' | 'configured'> & Partial<DeviceJson>
  readonly close: (isChanged: boolean) => void
}

const FIELDS = ['name', 'company_id', 'courier_id', 'route_id', 'time_zone', 'secret'] as const
type FieldName = (typeof FIELDS)[number]

/** The entry of a device: its name, company, courier and route. Saving it releases held fixes of the device. */
export function EntryDialog({ detail, close }: EntryDialogProps): JSX.Element {
  const companies = useCompanies()
  const [typed, setTyped] = useState<Partial<Record<FieldName, string>>>({})
  const { isBusy, failure: error, run } = useWork()
  const given = (name: FieldName): string => {
    const known =
      name === 'secret' ? '' : (detail[name] ?? (name === 'company_id' ? (companies[0]?.company_id ?? '') : ''))
    return typed[name] ?? known
  }
  const save = async () => {
    const texts = FIELDS.filter((name) => given(name).trim() !== '').map((name) => [name, given(name).trim()])
    const cleared = (['name', 'courier_id', 'route_id', 'time_zone'] as const).filter(
      (name) => given(name).trim() === '',
    )
    const kept = Object.entries(entryBody(detail)).filter(([name]) => !cleared.some((each) => each === name))
    await api.putDevice(detail.id, { ...Object.fromEntries(kept), ...Object.fromEntries(texts) })
    toast(words.van.saved(given('name') || detail.id))
    close(true)
  }
  const wrong =
    error instanceof RequestError
      ? (error.body as { errors?: readonly { path: string; message: string }[] })?.errors
      : []
  const errorOf = (name: FieldName) => wrong?.find(({ path }) => path === name)?.message
  const field = (name: FieldName, more: { hint?: string; required?: boolean; type?: 'password' } = {}) => (
    <Field
      key={name}
      label={words.van.field[name]}
      value={given(name)}
      change={(text) => setTyped((before) => ({ ...before, [name]: text }))}
      error={errorOf(name)}
      {...more}
    />
  )
  return (
    <Dialog
      title={detail.configured ? words.van.edit : words.van.configure}
      hint={detail.id}
      close={() => close(false)}
      submit={() => void run(save)}
      actions={
        <button type="submit" class="button primary" disabled={isBusy || !given('company_id').trim()}>
          {words.van.save}
        </button>
      }
    >
      {field('name')}
      <CompanyField
        value={given('company_id')}
        change={(company_id) => setTyped((before) => ({ ...before, company_id }))}
        error={errorOf('company_id')}
      />
      <div class="field-pair">
        {field('courier_id', { hint: words.van.ofApi, required: given('route_id').trim() !== '' })}
        {field('route_id', { hint: words.van.usualRoute })}
      </div>
      <div class="field-pair">
        {field('time_zone', { hint: words.van.zoneHint })}
        {field('secret', { type: 'password', hint: detail.secret ? words.van.secretSet : words.van.secretHint })}
      </div>
      {!wrong?.length && <Failure error={error} />}
    </Dialog>
  )
}

/** Returns the present entry of a device in the form that `putDevice` takes; its secret stays. */
export function entryBody(detail: Partial<DeviceJson>): Record<string, unknown> {
  const entries = Object.entries(detail).filter(([name, value]) => ENTRY.has(name) && value !== undefined)
  return Object.fromEntries(entries)
}

const ENTRY = new Set(
  'name company_id courier_id route_id time_zone model settings protocol transports networks client_certificate trial feed'.split(
    ' ',
  ),
)
