import js from "@eslint/js";
import prettier from "eslint-config-prettier";
import jestPlugin from "eslint-plugin-jest";
import jsdoc from "eslint-plugin-jsdoc";
import tseslint from "typescript-eslint";

// Everything strict, then switched off one by one with a reason. Why each house rule exists: docs/internals/style.md.
export default tseslint.config(
  {
    // test/bench/peers is a package of its own, whose dependencies only its benchmark installs.
    ignores: [
      "dist/",
      "coverage/",
      ".taskgate/",
      "node_modules/",
      "**/fixtures/**",
      "test/bench/peers/",
    ],
  },
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: "./test/tsconfig.json", tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "max-lines-per-function": ["error", { max: 70, skipBlankLines: true, skipComments: true }],
      "max-params": ["error", 3],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // Interfaces ask for promises where an implementation has nothing to wait for.
      "@typescript-eslint/require-await": "off",
      // A handler may return nothing: `void` beside other types says so in a public signature.
      "@typescript-eslint/no-invalid-void-type": "off",
      // Methods of ports are passed as functions on purpose, they don't use `this`.
      "@typescript-eslint/unbound-method": "off",
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      // The house has no enums, and looking for them takes a tenth of the rules' time.
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
    },
  },
  {
    files: ["shared/**/*.ts", "functions/**/*.ts"],
    plugins: { jsdoc },
    rules: {
      "jsdoc/require-jsdoc": [
        "error",
        {
          publicOnly: true,
          checkConstructors: false,
          require: { ClassDeclaration: true, FunctionDeclaration: true },
          contexts: ["TSTypeAliasDeclaration", "ExportNamedDeclaration > VariableDeclaration"],
        },
      ],
      "no-restricted-syntax": [
        "error",
        {
          selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
          message: "Time comes from the Clock port.",
        },
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: "Time comes from the Clock port.",
        },
        {
          selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
          message: "Chance comes from the Random port.",
        },
      ],
      "no-restricted-globals": [
        "error",
        { name: "setTimeout", message: "Waiting comes from the Timers port." },
        { name: "setInterval", message: "Waiting comes from the Timers port." },
        { name: "process", message: "Settings come from shared/settings." },
      ],
    },
  },
  {
    // These are the places where time, chance and the process itself come in. Adapters bound their drivers' calls.
    files: [
      "shared/platform/**",
      "shared/settings/**",
      "shared/local/**",
      "shared/cli/**",
      "shared/store/postgres/**",
      "shared/store/mssql/**",
      "functions/tasks/flights/partner.ts",
    ],
    rules: { "no-restricted-globals": "off", "no-restricted-syntax": "off" },
  },
  {
    files: ["test/**/*.ts"],
    ...jestPlugin.configs["flat/recommended"],
  },
  {
    files: ["test/**/*.ts"],
    rules: {
      // A describe is as long as its cases.
      "max-lines-per-function": "off",
      // Suites are functions that take a setup: their tests and hooks stand inside.
      "jest/no-export": "off",
      "jest/expect-expect": "off",
      "jest/no-standalone-expect": "off",
      "jest/no-conditional-expect": "off",
      "jest/valid-title": "off",
      "jest/require-hook": "off",
      "@typescript-eslint/no-floating-promises": "error",
    },
  },
  {
    files: ["**/*.cjs", "**/*.mjs", "shared/functions/dashboard/ui/**/*.js"],
    languageOptions: {
      globals: {
        require: "readonly",
        module: "writable",
        process: "readonly",
        console: "readonly",
        __dirname: "readonly",
        globalThis: "readonly",
        document: "readonly",
        window: "readonly",
        fetch: "readonly",
        setTimeout: "readonly",
        clearTimeout: "readonly",
        location: "readonly",
        URL: "readonly",
        Buffer: "readonly",
        AbortController: "readonly",
        Intl: "readonly",
      },
    },
  },
  prettier,
);
