// Every file of this module sees the layers below; a program imports those that it configures.
@_exported import EideticFetch
@_exported import EideticStore
