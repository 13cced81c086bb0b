/* SPDX-License-Identifier: MIT */
/*
 * For an extension that keeps to the limited API of CPython and is built for another machine: what the headers of
 * Python want to know of it. All of it follows from the compiler.
 */
#ifndef SBS_CROSS_PYCONFIG_H
#define SBS_CROSS_PYCONFIG_H

#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define SIZEOF_FLOAT __SIZEOF_FLOAT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__

#define HAVE_PROTOTYPES 1
#define HAVE_STDARG_PROTOTYPES 1
#define HAVE_STDINT_H 1
#define HAVE_WCHAR_H 1
#define STDC_HEADERS 1

#ifdef _WIN32
/* Extensions import Python's functions and data from a DLL. */
#define HAVE_DECLSPEC_DLL 1
#define MS_WINDOWS 1
#define MS_WIN64 1
#define Py_ENABLE_SHARED 1
#else
#define HAVE_SSIZE_T 1
#define HAVE_UNISTD_H 1
#endif
#ifdef _WIN32
#define HAVE_SSIZE_T 1 /* as the compiler for it has, in sys/types.h */
#define HAVE_SYS_TYPES_H 1
#endif

#endif
