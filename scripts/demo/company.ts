import type { CultureName } from './names.ts'

/** Northgate Instruments does not exist; `.example` is reserved for that. */
export const MAIL_DOMAIN = 'northgate.example'

export const PEOPLE = 1000

export interface Department {
  readonly id: string
  readonly name: string
  /** Their sum is `PEOPLE`. */
  readonly size: number
  readonly titles: readonly string[]
}

export const DEPARTMENTS: readonly Department[] = [
  department('production', 'Production', 236, 'Assembler', 'Shift Supervisor', 'Machinist', 'Tool Setter'),
  department('engineering', 'Engineering', 148, 'Engineer; Optics', 'Engineer; Electronics', 'Lead Engineer'),
  department('sales', 'Sales', 117, 'Account Manager', 'Sales Engineer', 'Regional Manager'),
  department('customer-service', 'Customer Service', 94, 'Service Agent', 'Field Technician', 'Team Lead'),
  department('logistics', 'Logistics & Warehouse', 83, 'Warehouse Clerk', 'Dispatcher', 'Forklift Operator'),
  department('quality', 'Quality', 62, 'Inspector', 'Quality Engineer', 'Auditor'),
  department('it', 'Information Technology', 54, 'Systems Engineer', 'Developer', 'Service Desk Analyst'),
  department('procurement', 'Procurement', 41, 'Buyer', 'Supplier Manager'),
  department('finance', 'Finance & Controlling', 44, 'Accountant', 'Controller', 'Payroll Specialist'),
  department('marketing', 'Marketing', 36, 'Editor', 'Designer', 'Product Marketing Manager'),
  department('hr', 'People & Culture', 29, 'Recruiter', 'HR Partner', 'Trainer'),
  department('research', 'Research', 31, 'Scientist', 'Research Engineer'),
  department('legal', 'Legal & Compliance', 13, 'Counsel', 'Compliance Officer'),
  department('facilities', 'Facilities', 12, 'Caretaker', 'Facility Manager'),
]

export interface Site {
  readonly id: string
  readonly name: string
  /** Out of the sum of all. */
  readonly share: number
  /** Whose names are common there, the most common ones first. */
  readonly cultures: readonly CultureName[]
}

export const SITES: readonly Site[] = [
  { id: 'hamburg', name: 'Site Hamburg', share: 26, cultures: ['german', 'turkish', 'portuguese', 'indian'] },
  { id: 'krakow', name: 'Site Kraków', share: 17, cultures: ['polish', 'polish', 'czech', 'czechWomen'] },
  { id: 'dublin', name: 'Site Dublin', share: 9, cultures: ['irish', 'english', 'nigerian', 'polish'] },
  { id: 'lyon', name: 'Site Lyon', share: 10, cultures: ['french', 'arabic', 'portuguese'] },
  { id: 'bergamo', name: 'Site Bergamo', share: 9, cultures: ['italian', 'nigerian'] },
  { id: 'izmir', name: 'Site İzmir', share: 8, cultures: ['turkish'] },
  { id: 'danang', name: 'Site Đà Nẵng', share: 7, cultures: ['vietnamese'] },
  { id: 'guadalajara', name: 'Site Guadalajara', share: 7, cultures: ['mexican'] },
  { id: 'goteborg', name: 'Site Göteborg', share: 5, cultures: ['nordic', 'arabic'] },
  { id: 'gyor', name: 'Site Győr', share: 2, cultures: ['hungarian', 'hungarian', 'czechWomen', 'czech'] },
]

export interface Project {
  readonly id: string
  readonly name: string
  readonly size: number
  /** Where most of its people come from. */
  readonly from: readonly string[]
}

export const PROJECTS: readonly Project[] = [
  project('aurora', 'Project Aurora (new spectrometer)', 64, 'engineering', 'research', 'quality'),
  project('basalt', 'Project Basalt (ERP replacement)', 38, 'it', 'finance', 'logistics'),
  project('cirrus', 'Project Cirrus (cloud migration)', 27, 'it'),
  project('dune', 'Project Dune', 12, 'engineering', 'procurement'),
  project('ember', "Project Ember – don't share outside", 9, 'research', 'legal'),
  project('fjord', 'Project Fjord (Göteborg ramp-up)', 33, 'production', 'logistics', 'facilities'),
  project('gingko', 'Project Gingko "green site"', 18, 'facilities', 'quality', 'production'),
  project('harbour', 'Project Harbour', 22, 'logistics', 'procurement'),
  project('indigo', 'Project Indigo (web shop)', 25, 'marketing', 'it', 'sales'),
  project('juniper', 'Project Juniper', 7, 'hr', 'finance'),
  project('kestrel', 'Project Kestrel (field sensors)', 46, 'engineering', 'customer-service'),
  // Announced, and nobody is in it yet.
  project('lumen', 'Project Lumen', 0, 'research'),
]

export interface List {
  readonly id: string
  readonly name: string
  readonly size: number
  /** Only people with one of these words in their title. */
  readonly titles?: readonly string[]
}

export const LISTS: readonly List[] = [
  { id: 'all-staff', name: 'All staff', size: PEOPLE },
  { id: 'first-aiders', name: 'First aiders', size: 47 },
  { id: 'works-council', name: 'Works council / Betriebsrat', size: 15 },
  { id: 'management', name: 'Management board', size: 6, titles: ['Manager', 'Controller', 'Counsel'] },
]

function department(id: string, name: string, size: number, ...titles: string[]): Department {
  return { id, name, size, titles }
}

function project(id: string, name: string, size: number, ...from: string[]): Project {
  return { id, name, size, from }
}
