// `import Eidetic` brings what a program names that shows images. The two layers below are libraries of their own, for
// programs that configure the network (`import EideticFetch`) or the caches (`import EideticStore`).
@_exported public import EideticCodecs
@_exported public import EideticCore
@_exported public import EideticHTTP
