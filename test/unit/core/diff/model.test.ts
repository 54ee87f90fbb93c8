import { testModel } from './model.ts'

testModel(200)
