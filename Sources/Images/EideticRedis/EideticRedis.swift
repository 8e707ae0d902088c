// `import EideticRedis` brings the types of its signatures.
@_exported public import EideticCore
@_exported public import EideticStore
