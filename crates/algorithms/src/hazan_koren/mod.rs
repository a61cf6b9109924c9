//! Hazan & Koren 2012, *Linear Regression with Limited Observation*.
