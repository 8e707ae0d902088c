@_exported public import EideticCore
