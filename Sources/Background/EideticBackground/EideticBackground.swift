// `import EideticBackground` brings the types of its signatures: `MemoryPressure`, `EideticError`.
@_exported public import EideticCore
