// `import EideticStore` is enough for a program that keeps images or other values.
@_exported public import EideticCore
@_exported public import EideticHTTP
