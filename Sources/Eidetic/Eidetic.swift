// `import Eidetic` is enough for nine users in ten: what the layers below say to users is said here again.
@_exported public import EideticCodecs
@_exported public import EideticCore
@_exported public import EideticFetch
@_exported public import EideticHTTP
@_exported public import EideticStore
