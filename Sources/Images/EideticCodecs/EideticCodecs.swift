// `import EideticCodecs` is enough for a program that decodes and encodes.
@_exported public import EideticCore
