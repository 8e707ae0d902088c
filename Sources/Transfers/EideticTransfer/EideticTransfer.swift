// `import EideticTransfer` brings the types of its signatures: `EideticError`, `HTTPHeaders`.
@_exported public import EideticCore
@_exported public import EideticHTTP
