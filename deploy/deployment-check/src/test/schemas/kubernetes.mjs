// Makes resources/schemas/kubernetes.json from the declarations of the npm package kubernetes-types (its folder is the argument): what
// a kind needs, without descriptions, and closed: a property that no declaration names is an error. Written to standard output.
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const root = process.argv[2];
const kinds = [
  ['apps/v1', 'Deployment'], ['apps/v1', 'StatefulSet'], ['autoscaling/v2', 'HorizontalPodAutoscaler'], ['core/v1', 'ConfigMap'],
  ['core/v1', 'Namespace'], ['core/v1', 'Secret'], ['core/v1', 'Service'], ['core/v1', 'ServiceAccount'],
  ['networking/v1', 'NetworkPolicy'], ['policy/v1', 'PodDisruptionBudget'],
];
// What the declarations call by a name and the API takes in several forms.
const simple = {
  'api/resource.Quantity': { type: ['string', 'number'], pattern: '^[0-9.]+([eE][0-9]+|[numkKMGTPE]i?)?$' },
  'meta/v1.Time': { type: 'string' },
  'meta/v1.MicroTime': { type: 'string' },
  'meta/v1.FieldsV1': { type: 'object' },
};
const files = new Map();
const definitions = {};

function file(name) {
  if (!files.has(name)) {
    const text = readFileSync(join(root, name + '.d.ts'), 'utf8').replace(/\/\*[^]*?\*\//g, '');
    const imports = {};
    for (const [, names, from] of text.matchAll(/import \{([^}]*)\} from "([^"]*)";/g)) {
      for (const each of names.split(',')) {
        const [, original, local] = each.trim().match(/^(\w+)(?: as (\w+))?$/);
        imports[local ?? original] = [normalize(join(dirname(name), from)), original];
      }
    }
    files.set(name, { text, imports });
  }
  return files.get(name);
}

function type(name, text) {
  text = text.trim();
  let found;
  if ((found = text.match(/^Array<(.*)>$/s))) return { type: 'array', items: type(name, found[1]) };
  if ((found = text.match(/^\{\s*\[name: string\]: (.*?);?\s*\}$/s))) return { type: 'object', additionalProperties: type(name, found[1]) };
  if (text.includes('|')) return { anyOf: text.split('|').map((each) => type(name, each)) };
  if ((found = text.match(/^"(.*)"$/))) return { const: found[1] };
  if (['string', 'number', 'boolean'].includes(text)) return { type: text };
  if (!/^\w+$/.test(text)) throw new Error(`${name}: what is ${text}?`);
  return reference(...(file(name).imports[text] ?? [name, text]));
}

function reference(name, declared) {
  const key = `${name}.${declared}`;
  if (simple[key]) return simple[key];
  if (!definitions[key]) {
    const { text } = file(name);
    const alias = text.match(new RegExp(`export (?:declare )?type ${declared} = (.*?);`, 's'));
    if (alias) return type(name, alias[1]);
    const body = text.match(new RegExp(`export interface ${declared} \\{\\n([^]*?)\\n\\}`));
    if (!body) throw new Error(`there is no ${key}`);
    const schema = (definitions[key] = { type: 'object', properties: {}, required: [], additionalProperties: false });
    for (const [, property, optional, of] of body[1].matchAll(/^ {4}"?([\w$-]+)"?(\?)?: ((?:\{[^}]*\}|[^;{])*);/gm)) {
      schema.properties[property] = type(name, of);
      if (!optional) schema.required.push(property);
    }
    if (!schema.required.length) delete schema.required;
  }
  return { $ref: '#/definitions/' + key.replaceAll('/', '~1') };
}

// Folders of the package are named by the first word of a group.
function apiVersion(group) {
  return group.replace(/^core\//, '').replace(/^networking\//, 'networking.k8s.io/');
}

// Each kind beside its API version: whoever validates takes the one that the document names.
const byKind = Object.fromEntries(kinds.map(([group, kind]) => [`${apiVersion(group)} ${kind}`, reference(group, kind)]));
// A definition a line, so that a newer version shows as a readable difference.
const lines = (object) => Object.keys(object).sort().map((key) => `${JSON.stringify(key)}: ${JSON.stringify(object[key])}`).join(',\n');
process.stdout.write(`{"$schema": "http://json-schema.org/draft-07/schema#",\n"kinds": {\n${lines(byKind)}},\n"definitions": {\n${lines(definitions)}}}\n`);
