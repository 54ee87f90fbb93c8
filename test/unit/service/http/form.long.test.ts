import { testAnyForm } from './form.ts'

testAnyForm(2000)
