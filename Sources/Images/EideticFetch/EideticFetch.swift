// `import EideticFetch` is enough for a program that downloads.
@_exported public import EideticCore
@_exported public import EideticHTTP
